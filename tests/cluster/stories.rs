//! The five demo failures on a real server: the findings live and from the bundle of that run equal those of
//! the demos, before the remedy and after it.

use std::collections::BTreeMap;
use std::path::Path;

use meshdoctor::demo::{self, DEMOS, DemoState};
use serde_json::Value;

use crate::doctor::{Doctor, Ran};
use crate::staged::{READER, Staged};

macro_rules! stories {
    ($($test:ident: $name:literal,)*) => {
        $(#[test] fn $test() { check_story($name); })*

        #[test]
        fn every_demo_is_told_live() {
            let names: Vec<_> = DEMOS.iter().map(|demo| demo.name).collect();
            assert_eq!(names, [$($name),*]);
        }
    };
}

stories! {
    iptables_that_is_not_there: "cni-exit-127",
    a_token_of_a_pod_that_is_gone: "cni-unauthorized",
    a_debug_image_that_is_ignored: "debug-image-ignored",
    an_injector_that_was_not_there: "injector-fails-open",
    a_misspelled_annotation: "native-sidecar-typo",
}

/// The outcomes of all checks except those that compare keys with certificates: a demo has no keys and states
/// that they match, but a server only has the certificates.
fn with_keys_aside(ran: &Ran) -> BTreeMap<&str, String> {
    let mut outcomes = ran.outcomes();
    for keys in ["issuer-key-mismatch", "webhook-key-mismatch"] {
        outcomes.remove(keys);
    }
    outcomes
}

fn check_story(name: &str) {
    let demo = demo::find(name).unwrap();
    for (state, cured) in [(DemoState::Before, &[][..]), (DemoState::After, &["--cured"][..])] {
        let Some(mut staged) = Staged::new(demo, state) else { return };
        // Granted before anything is read, because roles are evidence too.
        staged.cluster.grant(READER, &documented_rules());
        let live = staged.doctor.check_twice(&staged.words(), &[]);
        let told = staged.doctor.run(&[&["demo", name, "-o", "json"], cured].concat());
        assert_eq!(live.found(), told.found(), "{name} {state:?}");
        assert_eq!(with_keys_aside(&live), with_keys_aside(&told), "{name} {state:?}");
        assert_eq!(live.status, told.status, "{name} {state:?}");
        match state {
            DemoState::Before => assert!(!live.found().is_empty(), "{name}: nothing was found"),
            DemoState::After => live.assert_quiet(&format!("{name} after the remedy")),
        }

        // The documented role suffices for all of it.
        let reader = Doctor::new(&staged.cluster, READER).check_twice(&staged.words(), &[]);
        reader.assert_same(&live, &format!("{name} {state:?}, with the documented role"));
    }
}

/// The rules of the ClusterRole that the documentation gives.
pub fn documented_rules() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rbac.yaml");
    let role: Value = serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    role["rules"].clone()
}
