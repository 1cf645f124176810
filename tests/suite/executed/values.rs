//! Values of charts, as `--set` changes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::programs::Call;

/// The flags of `linkerd upgrade` that set a value, and its path.
pub const FLAGS: [(&str, &str); 7] = [
    ("--controller-log-level", "controllerLogLevel"),
    ("--default-inbound-policy", "proxy.defaultInboundPolicy"),
    ("--proxy-log-level", "proxy.logLevel"),
    ("--proxy-cpu-limit", "proxy.resources.cpu.limit"),
    ("--proxy-cpu-request", "proxy.resources.cpu.request"),
    ("--proxy-memory-limit", "proxy.resources.memory.limit"),
    ("--proxy-memory-request", "proxy.resources.memory.request"),
];

/// Adds the values of `--set`, `--set-string`, `--set-file` and `--values`.
pub fn given(values: &mut Value, call: &Call, folder: &std::path::Path) -> Result<(), String> {
    for file in call.values(&["-f", "--values"]) {
        let text = super::certificates::read(folder, file)?;
        let more: Value = serde_yaml::from_str(&text).map_err(|error| error.to_string())?;
        merge(values, &more);
    }
    for (flag, path) in FLAGS {
        for text in call.values(&[flag]) {
            set(values, path, json!(text))?;
        }
    }
    for (option, is_text) in [("--set", false), ("--set-string", true)] {
        for pairs in call.values(&[option]) {
            for pair in unescaped_split(pairs) {
                let (path, text) = pair.split_once('=').ok_or_else(|| format!("{pair:?} has no value"))?;
                set(values, path, parsed(text, is_text))?;
            }
        }
    }
    for pair in call.values(&["--set-file"]).iter().flat_map(|pairs| pairs.split(',')) {
        let (path, file) = pair.split_once('=').ok_or("no file")?;
        set(values, path, json!(super::certificates::read(folder, file)?))?;
    }
    Ok(())
}

/// The API server ports that linkerd-init of the control plane skips, if they are not the default.
pub fn api_server_ports(values: &Value) -> Option<&str> {
    let ports = values.pointer("/proxyInit/kubeAPIServerPorts").and_then(Value::as_str);
    ports.filter(|ports| *ports != "443,6443")
}

/// `linkerd install` stores its values, with the issuer and its key, in the Secret that `linkerd upgrade` reads.
pub fn stored(rendered: &mut [Value], values: &Value) {
    let has_key = values.pointer("/identity/issuer/tls/keyPEM").and_then(Value::as_str).is_some();
    let secret = rendered.iter_mut().find(|object| object["metadata"]["name"] == "linkerd-config-overrides");
    if let Some(secret) = secret.filter(|_| has_key) {
        let text = serde_yaml::to_string(values).unwrap();
        secret["data"] = json!({"linkerd-config-overrides": STANDARD.encode(text)});
    }
}

fn merge(values: &mut Value, more: &Value) {
    match (values, more) {
        (Value::Object(values), Value::Object(more)) => {
            for (name, value) in more {
                merge(values.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (values, more) => *values = more.clone(),
    }
}

/// At commas that are not escaped; the escapes are removed.
fn unescaped_split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => parts.last_mut().unwrap().extend(letters.next()),
            ',' => parts.push(String::new()),
            letter => parts.last_mut().unwrap().push(letter),
        }
    }
    parts
}

fn parsed(text: &str, is_text: bool) -> Value {
    match text {
        _ if is_text => json!(text),
        "true" => json!(true),
        "false" => json!(false),
        "null" => Value::Null,
        text => text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number)),
    }
}

fn set(values: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let mut at = values;
    for part in path.split('.') {
        let (name, index) = match part.split_once('[') {
            Some((name, index)) => {
                let index = index.trim_end_matches(']').parse::<usize>().map_err(|error| error.to_string())?;
                (name, Some(index))
            }
            None => (part, None),
        };
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        at = at.as_object_mut().unwrap().entry(name.to_owned()).or_insert(Value::Null);
        if let Some(index) = index {
            if !at.is_array() {
                *at = json!([]);
            }
            let list = at.as_array_mut().unwrap();
            while list.len() <= index {
                list.push(Value::Null);
            }
            at = &mut list[index];
        }
    }
    *at = value;
    Ok(())
}
