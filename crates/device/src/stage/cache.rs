//! A cache of the host in front of volumes: who passes what, and what is still to be written.
//!
//! ```text
//!   read  ─▶ cached limits ─┬ hit ──────────────────────────────▶ answer
//!                           └ miss ─▶ uncached ─▶ volume ───────▶ answer
//!   write ─▶ cached limits ─┬ through ─▶ uncached ─▶ volume ────▶ answer
//!                           └ back ─▶ answer, and later ─▶ uncached ─▶ volume
//!   flush ─▶ everything written back ─▶ volume ─────────────────▶ answer
//! ```
//!
//! Azure, in our words (disks-performance.md, 2026-09-09): a read that the cache holds counts against
//! the cached limits alone, any other against the cached and the uncached ones and the disk. A write
//! under ReadOnly is done when both are done; under ReadWrite it is done in the cache and written back
//! later, at the uncached limits and the disk, and a flush waits for that.
//!
//! Which reads hit is chance, by a share that the user gives: no document can know it. What is not yet
//! written back is at most as much as the cache holds; a write that finds no room waits for some.

use std::collections::VecDeque;

use blocklab_random::Stream;
use blocklab_units::{Bytes, Nanos};

use crate::HostCache;

/// A [`HostCache`] at work, its limiters aside.
#[derive(Debug, Clone)]
pub(crate) struct CacheState {
    hit_share: f64,
    chance: Stream,
    base: Nanos,
    per_kib_ns: f64,
    /// `None`: writes go through.
    dirty: Option<Dirty>,
}

/// Writes that the cache has answered and not yet written back.
#[derive(Debug, Clone)]
struct Dirty {
    room: Bytes,
    held: u64,
    /// When this many bytes will have been written back, in order of time. Neighbours are joined, so
    /// that the list stays short: they count as held until the last of them is written.
    pending: VecDeque<(Nanos, u64)>,
    /// When all of them will have been.
    all_written: Nanos,
    /// When the room comes that a write has waited for last: no later write has it sooner.
    room_comes: Nanos,
}

/// Into how many pieces the room is divided.
const PIECES: u64 = 256;

impl CacheState {
    pub(crate) fn new(spec: &HostCache, seed: u64) -> Self {
        Self {
            hit_share: spec.hit_share,
            chance: Stream::new(seed, "host cache", 0),
            base: spec.latency.base,
            per_kib_ns: spec.latency.per_kib_ns,
            dirty: spec.writes_back.map(|room| Dirty {
                room,
                held: 0,
                pending: VecDeque::new(),
                all_written: Nanos::ZERO,
                room_comes: Nanos::ZERO,
            }),
        }
    }

    /// Whether the next read is in it.
    pub(crate) fn hits(&mut self) -> bool {
        self.chance.unit() < self.hit_share
    }

    /// When it has answered what the cached limits let pass at a moment.
    pub(crate) fn answer(&self, at: Nanos, bytes: u64) -> Nanos {
        let transfer = self.per_kib_ns * bytes as f64 / 1024.0;
        at.saturating_add(Nanos(self.base.0 + transfer as u64))
    }

    /// Whether a write is done once it is in the cache.
    pub(crate) const fn writes_back(&self) -> bool {
        self.dirty.is_some()
    }

    /// When there is room for a write that comes `now`, behind the writes that wait for room already.
    /// What is written back by then is no longer held.
    pub(crate) fn room_at(&mut self, now: Nanos, bytes: u64) -> Nanos {
        let Some(dirty) = &mut self.dirty else {
            return now;
        };
        let mut at = now.max(dirty.room_comes);
        while let Some((written, freed)) = dirty.pending.front().copied() {
            let is_full = dirty.held + bytes > dirty.room.0;
            // What is written by then makes room without a wait; of the rest, as much as is needed.
            if written > at {
                if !is_full {
                    break;
                }
                at = written;
                dirty.room_comes = written;
            }
            dirty.held -= freed;
            dirty.pending.pop_front();
        }
        at
    }

    /// A write will have reached its volume at this moment.
    pub(crate) fn write_back(&mut self, written: Nanos, bytes: u64) {
        let Some(dirty) = &mut self.dirty else {
            return;
        };
        dirty.held += bytes;
        dirty.all_written = dirty.all_written.max(written);
        // Volumes finish out of order, and the list is in order of time.
        let all = dirty.all_written;
        match dirty.pending.back_mut() {
            Some((last, joined)) if *joined < dirty.room.0 / PIECES => {
                *last = all;
                *joined += bytes;
            }
            _ => dirty.pending.push_back((all, bytes)),
        }
    }

    /// When all that was answered is written.
    pub(crate) fn flushed_at(&self, now: Nanos) -> Nanos {
        let dirty = self.dirty.as_ref();
        dirty.map_or(now, |dirty| now.max(dirty.all_written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cap, Device, DeviceSpec, Direction, InstanceSpec, Io, Latency, Layout, Origin, Rate,
        Service, Spread, VolumeSpec,
    };
    use Direction::{Flush, Read, Trim, Write};

    fn latency(micros: u64) -> Latency {
        Latency {
            base: Nanos(micros * 1000),
            per_kib_ns: 0.0,
            origin: Origin::Given,
        }
    }

    /// A disk of 1,000 IOPS and 2 ms behind a cache of 4,000 IOPS and 100 µs.
    fn device(hit_share: f64, writes_back: Option<Bytes>) -> Device {
        let volume = VolumeSpec {
            caps: vec![Cap::new("disk", Rate::Iops(1000.0), Origin::Given)],
            service: Some(Service::even(latency(2000), Spread::NONE)),
            ..VolumeSpec::new("disk", Bytes::GIB)
        };
        let spec = DeviceSpec {
            layout: Layout::Joined,
            instance: Some(InstanceSpec {
                caps: vec![Cap::new("uncached", Rate::Iops(2000.0), Origin::Given)],
                cache: Some(HostCache {
                    caps: vec![Cap::new("cached", Rate::Iops(4000.0), Origin::Given)],
                    credits: Vec::new(),
                    hit_share,
                    writes_back,
                    latency: latency(100),
                }),
                ..InstanceSpec::new("vm")
            }),
            ..DeviceSpec::new("cached", vec![volume])
        };
        Device::new(&spec, 1).expect("sound")
    }

    /// When operations that all arrive at 0 are answered, in microseconds.
    #[track_caller]
    fn check(device: &mut Device, directions: &[Direction], micros: &[u64]) {
        let answered = directions.iter().zip(0..).map(|(direction, k)| {
            let io = Io {
                direction: *direction,
                offset: if *direction == Flush {
                    0
                } else {
                    k * 1_048_576
                },
                len: if *direction == Flush { 0 } else { 4096 },
            };
            device.admit(Nanos::ZERO, io).at.0 / 1000
        });
        assert_eq!(answered.collect::<Vec<_>>(), micros);
    }

    #[test]
    fn a_hit_passes_the_cached_limits_alone() {
        // 4,000 a second, and 100 µs.
        check(&mut device(1.0, None), &[Read; 4], &[100, 350, 600, 850]);
    }

    #[test]
    fn a_miss_passes_all_of_them() {
        // The disk's 1,000 a second bind, and its 2 ms.
        check(
            &mut device(0.0, None),
            &[Read; 4],
            &[2000, 3000, 4000, 5000],
        );
    }

    #[test]
    fn a_write_goes_through_or_is_written_back() {
        check(&mut device(1.0, None), &[Write; 3], &[2000, 3000, 4000]);
        let mut back = device(1.0, Some(Bytes::MIB));
        // The flush waits for the last of them, and takes a write of no bytes besides.
        check(
            &mut back,
            &[Write, Write, Write, Flush],
            &[100, 350, 600, 6000],
        );
    }

    /// The story: the length of a trim counted as bytes of the cache, though it moves none. A write behind
    /// one of 64 MiB waited until that had reached the disk.
    #[test]
    fn a_trim_takes_no_room() {
        let mut back = device(1.0, Some(Bytes::MIB));
        let trim = Io {
            direction: Trim,
            offset: 0,
            len: 64 << 20,
        };
        back.admit(Nanos::ZERO, trim);
        check(&mut back, &[Write], &[350]);
    }

    /// Three writes of 4 KiB fit; the fourth waits until the first has reached the disk.
    #[test]
    fn a_full_cache_waits_for_the_disk() {
        let mut small = device(1.0, Some(Bytes::MIB));
        // As if a mebibyte were twelve kibibytes.
        if let Some(dirty) = small.cache_state().and_then(|state| state.dirty.as_mut()) {
            dirty.room = Bytes(12_288);
        }
        check(&mut small, &[Write; 5], &[100, 350, 600, 2100, 3100]);
        // 1.25 ms and 2 ms for room, which comes as fast as the disk lets writes pass.
        assert_eq!(waited_micros(&small, "disk: disk"), 3250);
        assert_eq!(waited_micros(&small, "vm: uncached"), 0);
    }

    /// How long operations waited for a limit, all together.
    fn waited_micros(device: &Device, limit: &str) -> u64 {
        let used = device.use_so_far().limits;
        let mut named = used.iter().filter(|used| used.limit.to_string() == limit);
        named.next().expect("a limit").waited_ns / 1000
    }

    /// The story: what was written back in the background waited for the limit of the disk, and that was
    /// counted as a wait of the writes, which the cache had answered long before: a run at the limit of its
    /// cache was "held back by the disk, the rate is 284 % of it".
    #[test]
    fn nothing_waits_for_what_is_written_in_the_background() {
        let mut back = device(1.0, Some(Bytes::MIB));
        check(&mut back, &[Write, Write, Write], &[100, 350, 600]);
        assert_eq!(waited_micros(&back, "disk: disk"), 0);
        assert_eq!(waited_micros(&back, "vm: cached"), 750);
        // A flush does: the third of them has its turn after 2 ms, and takes 2 ms.
        check(&mut back, &[Flush], &[6000]);
        assert_eq!(waited_micros(&back, "disk: disk"), 4000);
        // A read that misses waits behind them.
        let mut missed = device(0.0, Some(Bytes::MIB));
        check(&mut missed, &[Write, Write, Read], &[100, 350, 4000]);
        assert_eq!(waited_micros(&missed, "disk: disk"), 1000);
    }

    /// The story: a flush of a disk without a limit of its own, behind writes of another disk that waited for
    /// one, was counted as a wait of reads for the medium, which has the place of that limit there.
    #[test]
    fn a_flush_waits_for_no_limit_of_another_volume() {
        let mut spec = device(1.0, Some(Bytes::MIB)).spec().clone();
        let plain = VolumeSpec {
            kind: "plain".to_owned(),
            caps: Vec::new(),
            ..spec.volumes[0].clone()
        };
        spec.volumes.push(plain);
        let mut two = Device::new(&spec, 1).expect("sound");
        check(&mut two, &[Write, Write, Write], &[100, 350, 600]);
        let flush = Io {
            direction: Flush,
            offset: Bytes::GIB.0,
            len: 0,
        };
        two.admit(Nanos::ZERO, flush);
        assert_eq!(waited_micros(&two, "plain: physical maximum (reads)"), 0);
        assert_eq!(waited_micros(&two, "disk: disk"), 0);
    }

    /// A small write that waited for room set all the bytes of a large one free, and the writes behind it
    /// had them at once: before the large one had reached the disk, the cache held more than its room.
    #[test]
    fn no_write_has_room_before_one_that_waits_for_it() {
        let spec = device(1.0, None).spec().clone();
        let cache = HostCache {
            writes_back: Some(Bytes(8192)),
            ..spec
                .instance
                .and_then(|instance| instance.cache)
                .expect("a cache")
        };
        let mut state = CacheState::new(&cache, 1);
        let ms = Nanos::from_millis;
        for (written, len) in [(ms(10), 4096), (ms(20), 4096)] {
            assert_eq!(state.room_at(Nanos::ZERO, len), Nanos::ZERO);
            state.write_back(written, len);
        }
        for _ in 0..8 {
            assert_eq!(state.room_at(ms(1), 512), ms(10));
            state.write_back(ms(30), 512);
        }
        assert_eq!(state.room_at(ms(1), 512), ms(20));
    }

    #[test]
    fn the_share_of_hits_is_met() {
        let spec = device(0.8, None).spec().clone();
        let cache = spec
            .instance
            .and_then(|instance| instance.cache)
            .expect("a cache");
        let mut state = CacheState::new(&cache, 7);
        let hits = (0..10_000).filter(|_| state.hits()).count();
        assert!((7850..8150).contains(&hits), "{hits}");
    }
}
