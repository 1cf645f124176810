//! All tests that need no cluster: cards, matrix, honesty, stories, the command line. One binary, so that it
//! links once; the comment at the start of each module states what it verifies.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "skipped tests are printed")]
#![allow(clippy::too_many_lines, reason = "a table of cases is one piece")]

mod absences;
mod admission;
mod bad_input;
mod before;
mod binary;
mod book;
mod brought;
mod bundles;
mod calls;
mod canary;
mod cards;
mod case;
mod causes;
mod changes;
mod chart_values;
mod cli;
mod collections;
mod completions;
mod configs;
mod corpus;
mod declared;
mod defects;
mod deploy;
mod diagnostics;
mod diffs;
mod dumps;
mod ends;
mod environments;
#[cfg(unix)]
mod executed;
mod explanations;
#[cfg(feature = "live")]
mod faults;
mod fix;
mod fix_files;
mod fix_values;
mod fleets;
mod free_text;
mod fuzz;
#[cfg(unix)]
mod gather;
mod generated;
mod gitops;
mod given_secrets;
mod golden;
mod hidden;
mod honesty;
mod hostile;
mod injection;
mod installs;
mod lab_metrics;
mod layers;
mod leaves;
mod logs;
mod manifest_values;
mod manifests;
mod matrix;
mod mcp;
mod mcp_client;
mod node_snapshot;
mod nodes;
#[cfg(feature = "live")]
mod nothing_read;
mod operator;
mod outputs;
mod parity;
#[path = "../parity/mod.rs"]
mod parity_rows;
#[cfg(unix)]
mod passing;
mod pasted;
mod pipelines;
#[cfg(unix)]
mod plans;
#[cfg(unix)]
mod planted;
mod platforms;
mod policies;
mod policy_command;
mod policy_manifests;
#[cfg(feature = "live")]
mod probing;
mod prose;
mod reach;
mod reach_counters;
mod reach_paths;
mod reach_states;
mod real_calls;
mod recordings;
mod rehearsal;
mod remedies;
mod render;
mod repair;
mod repositories;
mod restarts;
mod restated;
mod retold;
#[cfg(unix)]
mod roles;
mod rotation;
mod samples;
mod saved;
mod schemas;
#[path = "../skip/mod.rs"]
mod skip;
mod stock;
mod stories;
mod sync;
mod threads;
mod tickets;
mod unread;
mod upgrade_commands;
mod variants;
mod verify;
mod waivers;
mod web_page;
