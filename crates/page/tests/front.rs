//! The page of an advice in a real browser: every point of the front stands there as the JSON has it,
//! what is advised is marked, and nothing is fetched.

#[allow(dead_code, reason = "nothing is clicked or dragged here")]
mod webdriver;

use std::fs;

use blocklab_advice::{Advice, Market, Question, Seller, advise};
use blocklab_catalog::{Catalog, Hosts};
use blocklab_report::advice as form;
use blocklab_units::{Nanos, latency};
use serde_json::{Value, json};
use webdriver::Browser;

fn advice(catalog: &Catalog) -> Advice {
    let question = Question {
        need: "1TiB,10000iops,300MB/s,p99=1ms".parse().expect("a need"),
        sellers: vec![Seller {
            vendor: "aws".to_owned(),
            region: "us-east-1".to_owned(),
            is_named: false,
        }],
        machine: Some(Hosts {
            vcpus: 4,
            ..Hosts::default()
        }),
        own: None,
        volumes: 1..=1,
        durable: true,
        horizon: Nanos::from_secs(86_400),
        discount: 0.0,
        only: None,
        at_least: false,
        remarks: Vec::new(),
    };
    let market = Market::new(catalog, &question).expect("machines");
    advise(&market, &question, &mut |_, _| Ok::<_, ()>(Vec::new())).expect("nothing fails")
}

#[test]
fn every_figure_is_readable_without_a_script() {
    let advice = advice(&Catalog::embedded());
    let page = blocklab_page::advice(&advice);
    let (plain, _) = page.split_once("<script").expect("a script");
    assert!(advice.front.len() > 1 && !advice.beside.is_empty());
    for point in advice.front.iter().chain(&advice.beside) {
        assert!(plain.contains(&point.address), "{}", point.address);
    }
}

/// The story: 60 TiB at 1,000 IOPS have a front of one point, of which there is no table, and the
/// chart said that "a table below has the points of the line".
#[test]
fn a_front_of_one_point_leads_to_no_table() {
    let mut advice = advice(&Catalog::embedded());
    let hint = "A table below has the points of the line.";
    assert!(blocklab_page::advice(&advice).contains(hint));
    advice.front.truncate(1);
    assert!(!blocklab_page::advice(&advice).contains(hint));
}

#[test]
fn the_front_is_drawn_as_the_json_has_it() {
    if webdriver::is_missing() {
        return;
    }
    let advice = advice(&Catalog::embedded());
    let answer = serde_json::to_value(form::advice(&advice)).expect("JSON");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("advice.html");
    fs::write(&path, blocklab_page::advice(&advice)).expect("written");
    let browser = Browser::start();
    browser.open(&format!("file://{}", path.display()));
    hovering_shows_each_point(&browser, &answer);
    let bound = "return Number(document.querySelector('.bound').dataset.bound)";
    assert_eq!(
        browser.run(bound, json!([])),
        json!(answer["need"]["p99_ns"].as_u64())
    );
    what_is_advised_is_ringed(&browser, &answer);
    for width in [360, 900, 1360] {
        browser.set_width(width);
        let wide = "return document.documentElement.scrollWidth > window.innerWidth";
        assert_eq!(browser.run(wide, json!([])), json!(false), "{width}");
        assert_eq!(browser.count(".front-chart .advised"), 1);
    }
    let fetched = "return performance.getEntriesByType('resource').length";
    assert_eq!(browser.run(fetched, json!([])), json!(0));
    assert_eq!(browser.log("browser"), Vec::<Value>::new());
}

/// The points in the order in which they are drawn.
fn points(answer: &Value) -> Vec<&Value> {
    let all = [&answer["front"], &answer["beside"]].into_iter();
    all.flat_map(|points| points.as_array().expect("points"))
        .collect()
}

fn hovering_shows_each_point(browser: &Browser, answer: &Value) {
    let points = points(answer);
    assert_eq!(browser.count(".front-chart .dot"), points.len() as u64);
    for (place, point) in points.into_iter().enumerate() {
        let dot = format!("return document.querySelectorAll('.front-chart .dot')[{place}]");
        browser.hover(browser.middle(&dot));
        let tip = browser.text(".front-chart .tooltip");
        let price = format!(
            "{:.2} USD a month",
            point["per_month"].as_f64().expect("a price")
        );
        let p99 = latency(point["p99_ns"].as_f64().expect("a latency"));
        assert!(tip.contains(&format!("{p99}, {price}")), "{price} in {tip}");
    }
}

fn what_is_advised_is_ringed(browser: &Browser, answer: &Value) {
    let is_advised = |point: &&Value| point["address"] == answer["chosen"][0]["address"];
    let place = points(answer).iter().position(is_advised);
    let place = place.expect("what is advised is among the points");
    let script = "const [ring, dot] = [document.querySelector('.front-chart .advised'),
                    document.querySelectorAll('.front-chart .dot')[arguments[0]]];
                  return [ring, dot].map((one) => [one.getAttribute('cx'), one.getAttribute('cy')])";
    let places = browser.run(script, json!([place]));
    assert_eq!(places[0], places[1]);
}
