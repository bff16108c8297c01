//! What failed, as the results tell it: by kind, the earliest first.

use blocklab_record::ErrorCount;

use super::workers::WorkerStatus;
use blocklab_worker::Failure;

/// Operations that failed.
pub(super) fn errors(members: &[&WorkerStatus]) -> Vec<ErrorCount> {
    let mut merged: Vec<Failure> = Vec::new();
    for failure in members.iter().flat_map(|member| member.recorder.failures()) {
        let same = |known: &&mut Failure| {
            known.errno == failure.errno && known.direction == failure.direction
        };
        match merged.iter_mut().find(same) {
            Some(known) => {
                known.count += failure.count;
                if failure.first_at < known.first_at {
                    (known.first_at, known.first_offset) = (failure.first_at, failure.first_offset);
                }
            }
            None => merged.push(failure),
        }
    }
    merged.sort_by_key(|failure| failure.first_at);
    merged.iter().map(error_count).collect()
}

fn error_count(failure: &Failure) -> ErrorCount {
    let (kind, message) = match failure.errno {
        0 => (
            "short".to_owned(),
            "fewer bytes were moved than asked for".to_owned(),
        ),
        errno => {
            let text = std::io::Error::from_raw_os_error(errno).to_string();
            let message = text
                .split(" (os error")
                .next()
                .unwrap_or_default()
                .to_owned();
            (errno_name(errno), message)
        }
    };
    ErrorCount {
        kind,
        message,
        direction: failure.direction.name().to_owned(),
        count: failure.count,
        first_at_ns: failure.first_at.0,
        first_offset: failure.first_offset,
    }
}

/// The names of what storage fails with; others by number.
fn errno_name(errno: i32) -> String {
    let name = match errno {
        libc::EIO => "EIO",
        libc::ENOSPC => "ENOSPC",
        libc::EINVAL => "EINVAL",
        libc::ENODEV => "ENODEV",
        libc::ENXIO => "ENXIO",
        libc::EAGAIN => "EAGAIN",
        libc::EOPNOTSUPP => "EOPNOTSUPP",
        libc::EPERM => "EPERM",
        libc::EACCES => "EACCES",
        libc::EROFS => "EROFS",
        libc::EFBIG => "EFBIG",
        libc::ETIMEDOUT => "ETIMEDOUT",
        libc::EREMOTEIO => "EREMOTEIO",
        libc::ENODATA => "ENODATA",
        libc::EILSEQ => "EILSEQ",
        libc::EBADF => "EBADF",
        libc::EDQUOT => "EDQUOT",
        libc::ESTALE => "ESTALE",
        libc::ENOMEM => "ENOMEM",
        libc::EBUSY => "EBUSY",
        libc::ENOTTY => "ENOTTY",
        libc::EFAULT => "EFAULT",
        libc::ENOLINK => "ENOLINK",
        libc::EUCLEAN => "EUCLEAN",
        other => return format!("errno {other}"),
    };
    name.to_owned()
}

/// Blocks that came back otherwise than they were written, as one kind of failure.
pub(super) fn flaws(members: &[&WorkerStatus]) -> Option<ErrorCount> {
    let all = members.iter().map(|member| member.recorder.flaws());
    let flawed: Vec<_> = all.filter(|flaws| flaws.count > 0).collect();
    let first = flawed.iter().min_by_key(|flaws| flaws.first_at)?;
    let (flaw, ..) = first.kept.first()?;
    Some(ErrorCount {
        kind: "verify".to_owned(),
        message: format!("{} at offset {}", flaw.kind, flaw.offset),
        direction: "read".to_owned(),
        count: flawed.iter().map(|flaws| flaws.count).sum(),
        first_at_ns: first.first_at.0,
        first_offset: flaw.offset,
    })
}

/// Each block of a validating pool that came back wrong; of very many the last stands for the rest.
pub(super) fn wrong_data(member: &WorkerStatus) -> impl Iterator<Item = ErrorCount> {
    let told = member.recorder.wrong().into_iter();
    told.map(|wrong| ErrorCount {
        kind: "verify".to_owned(),
        message: wrong.words,
        direction: "read".to_owned(),
        count: wrong.count,
        first_at_ns: wrong.at.0,
        first_offset: wrong.offset,
    })
}
