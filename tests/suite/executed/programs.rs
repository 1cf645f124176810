//! Stand-ins for the programs of printed commands. Each script on PATH sends its arguments to the server of
//! [`super::server`], and prints the answer.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use meshdoctor::item::Kind;

use super::world::World;
use super::{certificates, cni, gateway_api, gitops, helm, linkerd, nodes};

/// Programs that the server answers.
const ANSWERED: [&str; 10] =
    ["linkerd", "helm", "step", "cmctl", "curl", "meshdoctor", "chronyc", "gateway-api", "argocd", "flux"];

/// A call of a program.
pub struct Call {
    pub words: Vec<String>,
}

impl Call {
    /// The value of an option, `--name value` or `--name=value`.
    pub fn value(&self, names: &[&str]) -> Option<&str> {
        self.values(names).into_iter().next_back()
    }

    /// All values of an option that may be repeated.
    pub fn values(&self, names: &[&str]) -> Vec<&str> {
        let mut found = Vec::new();
        let mut words = self.words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word.split_once('=') {
                Some((name, value)) if names.contains(&name) => found.push(value),
                _ if names.contains(&word) => found.extend(words.next()),
                _ => {}
            }
        }
        found
    }

    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|known| known == word)
    }

    /// Words that are neither options nor values of the given ones.
    pub fn plain(&self, valued: &[&str]) -> Vec<&str> {
        let mut found = Vec::new();
        let mut words = self.words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word.starts_with('-') {
                true if valued.contains(&word) => _ = words.next(),
                true => {}
                false => found.push(word),
            }
        }
        found
    }
}

/// The lines that send the arguments of a script, each in base64, as a call of `$program`. With curl, if this machine has
/// it: it starts ten times as fast as kubectl.
pub fn sender(kubectl: &Path, curl: Option<&Path>, port: u16) -> String {
    let words = "for word; do printf '%s' \"$word\" | base64 -w0; echo .; done";
    let Some(curl) = curl else {
        return format!("{{ {words}; }} | {} create --raw /stand-in/$program -f -", kubectl.display());
    };
    format!(
        "answer=$0.$$
if {{ {words}; }} | {} -sS --noproxy '*' --fail-with-body -o \"$answer\" -H Expect: --data-binary @- \\
    http://127.0.0.1:{port}/stand-in/$program 2>/dev/null
then cat \"$answer\"; rm -f \"$answer\"
else cat \"$answer\" >&2; rm -f \"$answer\"; exit 1
fi",
        curl.display()
    )
}

/// kubectl, with the commands that need a kubelet or an editor answered by the server. Validation needs the schemas of a
/// real API server.
fn kubectl_script(kubectl: &Path, send: &str, folder: &Path) -> String {
    let real = kubectl.display();
    let releases = folder.join("gateway-api").display().to_string();
    format!(
        "#!/bin/sh
program=kubectl verb= skip=
for word; do
  case \"$word\" in https://*) exec {releases} \"$@\" ;; esac
done
for word; do
  if [ -n \"$skip\" ]; then skip=; continue; fi
  case \"$word\" in
    -n|--namespace|--context) skip=1 ;;
    -*) ;;
    *) if [ -z \"$verb\" ]; then verb=$word; else verb=\"$verb $word\"; break; fi ;;
  esac
done
case \"$verb\" in
  'describe certificate'|'get certificate'|'rollout status'|'wait '*|'debug '*|'exec '*|'edit '*|'drain '*|'port-forward '*|'run '*)
{send} ;;
  'create clusterrolebinding'|'create namespace')
    {real} \"$@\" --dry-run=client -o json | {real} create -f - --validate=false ;;
  apply*|'create '*|'replace'*) exec {real} \"$@\" --validate=false ;;
  *) exec {real} \"$@\" ;;
esac
"
    )
}

/// Writes the programs into a folder.
pub fn write(folder: &Path, kubectl: &Path, send: &str) {
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    for program in ANSWERED {
        put(program, &format!("#!/bin/sh\nprogram={program}\n{send}\n"));
    }
    put("kubectl", &kubectl_script(kubectl, send, folder));
    for program in ["sleep", "timedatectl"] {
        put(program, "#!/bin/sh\nexit 0\n");
    }
}

/// Runs a program on the cluster.
pub fn run(world: &mut World, program: &str, body: &[u8]) -> Result<String, String> {
    let text = String::from_utf8_lossy(body).into_owned();
    let words = text.lines().filter(|line| !line.is_empty()).map(|line| {
        let bytes = STANDARD.decode(line.trim_end_matches('.')).unwrap();
        String::from_utf8(bytes).unwrap()
    });
    let call = Call { words: words.collect() };
    match program {
        "kubectl" => kubectl(world, &call),
        "linkerd" => linkerd::run(world, &call),
        "helm" => helm::run(world, &call),
        "step" => certificates::step(world, &call),
        // A check or a page to read: the result is judged after all steps.
        "meshdoctor" => {
            world.reruns.push(call.words);
            Ok(String::new())
        }
        "chronyc" => Ok(String::new()),
        // The script of the installer, which installs the release in its environment.
        "curl" => Ok("linkerd stand-in \"$LINKERD2_VERSION\"\n".to_owned()),
        "gateway-api" => gateway_api::applied(world, &call),
        "argocd" => gitops::argocd(world, &call),
        "flux" => gitops::flux(world, &call),
        "cmctl" => certificates::renewed(world, &call),
        other => Err(format!("{other} is not played")),
    }
}

fn kubectl(world: &mut World, call: &Call) -> Result<String, String> {
    let plain = call.plain(&[
        "-n",
        "--namespace",
        "--context",
        "--timeout",
        "--image",
        "--labels",
        "--overrides",
        "--for",
        "-l",
        "--field-selector",
    ]);
    let namespace = call.value(&["-n", "--namespace"]).unwrap_or("default").to_owned();
    match plain.as_slice() {
        ["rollout", "status", target @ ..] | ["wait", target @ ..] => {
            let named: Vec<&str> = target.iter().flat_map(|word| word.split('/')).collect();
            let [kind, name] = named.as_slice() else {
                // Pods by their labels: they are ready at once.
                return Ok(String::new());
            };
            let kind: Kind = kind.parse().map_err(|error| format!("{error}"))?;
            let found = world.get(kind, &namespace, name).or_else(|| world.get(kind, "", name));
            match found {
                Some(object) if object["spec"]["paused"] == true => Err(format!("{name} is paused")),
                Some(_) => Ok(String::new()),
                None => Err(format!("{kind} {name} not found")),
            }
        }
        // A pod that only tries to pull its image.
        ["run", name, "/only-pulled"] if name.starts_with("meshdoctor-pull-") => {
            let options = call.words.split(|word| word == "--").next().unwrap_or_default();
            match options.iter().any(|word| word == "--image") {
                true => Ok(String::new()),
                false => Err("required flag(s) \"image\" not set".to_owned()),
            }
        }
        ["describe" | "get", "certificate", ..] | ["port-forward", ..] => Ok(String::new()),
        ["debug", node, ..] => {
            let node = node.strip_prefix("node/").ok_or("only nodes are debugged")?;
            let of_pod = call.words.iter().position(|word| word == "--").map_or(&[][..], |at| &call.words[at + 1..]);
            let program = of_pod.strip_prefix(&["chroot".to_owned(), "/host".to_owned()]).unwrap_or(of_pod);
            let script = match program {
                [_, option, script] if option == "-c" => script.clone(),
                program => program.join(" "),
            };
            nodes::run(world, node, &script)
        }
        _ => Err(format!("kubectl {plain:?} is not played")),
    }
}

/// Lets the controllers and components act on what changed: linkerd-cni writes its files on every node when its pods start.
pub fn settle(world: &mut World) {
    super::controllers::settle(world);
    nodes::settle(world);
    cni::settle(world);
    super::runtime::settle(world);
}
