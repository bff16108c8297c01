//! The report of a block whose content is not what was written.

use blocklab_verify::{Settled, WrongBlock, WrongSector};

/// Sectors of a block that are reported one by one.
const REPORTED: usize = 8;

/// All that is known of a wrong block. `moment` writes microseconds since 1970 as a time.
pub fn miscompare_text(block: &WrongBlock, lun: &str, moment: &dyn Fn(u64) -> String) -> String {
    let or_key = block.or_key.map_or(String::new(), |key| {
        format!(", or {key} of a write that was in flight")
    });
    let mut lines = vec![
        format!(
            "{} Data validation error: sd={},lun={lun}; block at byte {:#x} ({}), {} bytes; found \
             by rd={}",
            moment(block.micros),
            block.name,
            block.offset,
            block.offset,
            block.len,
            block.run
        ),
        format!("key expected: {}{or_key}", block.expected_key),
        format!(
            "{} of {} sectors are wrong:",
            block.sectors.len(),
            block.len / 512
        ),
    ];
    for sector in block.sectors.iter().take(REPORTED) {
        lines.push(format!("  {}", sector_text(sector, moment)));
    }
    if block.sectors.len() > REPORTED {
        lines.push(format!("  and {} more", block.sectors.len() - REPORTED));
    }
    lines.push(match &block.good {
        Some((good, run)) => {
            let what = if good.wrote { "written" } else { "read" };
            format!("last {what} well: {} by rd={run}", moment(good.micros))
        }
        None => "last read or written well: not kept; -vt keeps it".to_owned(),
    });
    lines.join("\n             ") + "\n"
}

fn sector_text(sector: &WrongSector, moment: &dyn Fn(u64) -> String) -> String {
    let mut text = format!("lba {:#x}: {}", sector.offset, sector.kind);
    if sector.has_header() {
        let name = String::from_utf8_lossy(&sector.found_name);
        text.push_str(&format!(
            "; found key {}, lba {:#x}, sd {}, written {}",
            sector.found_key,
            sector.found_offset,
            name.trim_end(),
            moment(sector.found_micros)
        ));
    }
    text
}

/// What became of writes that were in flight when an earlier run ended.
pub fn settled_text(name: &str, settled: Settled) -> String {
    let Settled {
        arrived,
        absent,
        torn,
        unknown,
    } = settled;
    format!(
        "sd={name}: of {} writes that were in flight {arrived} are there, {absent} are not, {torn} \
         in part; of {unknown} nothing is known\n",
        arrived + absent + torn + unknown
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocklab_verify::{Good, WrongKind};

    #[test]
    fn a_block_tells_its_history() {
        let block = WrongBlock {
            name: "sd1".to_owned(),
            offset: 8192,
            len: 4096,
            expected_key: 3,
            or_key: None,
            sectors: vec![WrongSector {
                offset: 8704,
                kind: WrongKind::Stale,
                found_offset: 8704,
                found_key: 2,
                found_name: *b"sd1     ",
                found_micros: 11,
            }],
            good: Some((
                Good {
                    micros: 12,
                    run: 0,
                    wrote: true,
                },
                "rd1".to_owned(),
            )),
            run: "rd2".to_owned(),
            micros: 13,
        };
        assert_eq!(
            miscompare_text(&block, "/data/f", &|micros| format!("t{micros}")),
            "t13 Data validation error: sd=sd1,lun=/data/f; block at byte 0x2000 (8192), 4096 \
             bytes; found by rd=rd2\n             \
             key expected: 3\n             \
             1 of 8 sectors are wrong:\n             \
             \x20 lba 0x2200: another write of this place; found key 2, lba 0x2200, sd sd1, \
             written t11\n             \
             last written well: t12 by rd=rd1\n"
        );
    }
}
