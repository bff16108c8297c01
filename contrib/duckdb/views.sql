-- Views over the Parquet files of `blocklab export RUN -o RUN.parquet`, for DuckDB 0.10 or newer.
--
--   mkdir runs
--   for run in $(blocklab list --json | jq -r '.runs[].id'); do
--     blocklab export $run -o runs/$run.parquet
--   done
--   duckdb -init views.sql
--   select * from medians where "case" = 'rand4k-q32-read' order by iops desc;
--
-- The files lie in the folder `runs` below the current one. Unknown is NULL, never 0.

-- Every measurement, job and direction; runs that swept other axes have other columns.
create or replace view figures as
select * from read_parquet('runs/*.parquet', union_by_name = true);

-- What counts: finished runs, without discarded passes.
create or replace view counted as
select * from figures where run_status = 'complete' and "pass" > 0 and direction is not null;

-- One row for each run, case, job and direction: the median of its passes, and how far they scatter.
create or replace view medians as
select
    run, run_started_at, study, target, origin, "case", job, direction,
    count(*) as passes,
    median(iops) as iops,
    stddev_samp(iops) / nullif(avg(iops), 0) * 100 as iops_scatter_percent,
    median(bytes_per_s) / 1e6 as mb_per_s,
    median(service_ns_p50) / 1e3 as p50_us,
    median(service_ns_p99) / 1e3 as p99_us,
    median(service_ns_p999) / 1e3 as p999_us
from counted
group by all;

-- Each job of a case of a target against the run before it: 1 is unchanged.
create or replace view changes as
select
    target, study, "case", job, direction, run, run_started_at, iops,
    iops / lag(iops) over before as iops_ratio,
    p99_us / lag(p99_us) over before as p99_ratio
from medians
window before as (partition by target, study, "case", job, direction order by run_started_at);

-- The fastest run of every job of every case.
create or replace view fastest as
select * from medians
qualify row_number() over (partition by "case", job, direction order by iops desc) = 1;
