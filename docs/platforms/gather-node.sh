#!/bin/sh
# Gathers node evidence for `meshdoctor check --nodes` with standard shell tools, and writes it as a tar to standard
# output. It changes nothing on the node, sends nothing anywhere, and masks tokens before it writes them.
#
#   sh gather-node.sh > NODE.tar              on the node, as root
#   sh gather-node.sh -r /host > NODE.tar     in a pod or container that mounts the node's file system at /host
#   sh gather-node.sh -t > NODE.txt           as text between two marker lines, for terminals and logs
#
#   -r ROOT  where the node's file system is        -n NODE  the node's name, for meta.json
#   -c DIR   the directory of CNI configuration that the runtime reads; again, for further ones to list
#   -b DIR   a directory of CNI plugins where the runtime looks; can be repeated
#
# It needs sh, coreutils or busybox, sed, grep and tar; with sha256sum, stat, base64, crictl and journalctl it collects
# more. Files that it cannot read are listed in meta.json, so that they do not count as absent.
#
# All code is in functions: a shell that reads the script from standard input must have read all of it before it runs.

TOKEN='eyJ[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]*)+'
# Three groups; the numbers in the expressions below count them.
KEY='([A-Za-z0-9_.-]*([Tt]oken|TOKEN|[Pp]assword|PASSWORD|[Pp]asswd|[Ss]ecret|SECRET)|client-(key|certificate)-data'
KEY="$KEY|[Aa]uth[A-Za-z]*)"
CONF_DIRS='/etc/cni/net.d /etc/cni/multus/net.d /etc/kubernetes/cni/net.d /run/multus/cni/net.d
/var/lib/rancher/k3s/agent/etc/cni/net.d /var/snap/microk8s/current/args/cni-network'
BIN_DIRS='/opt/cni/bin /home/kubernetes/bin /var/lib/cni/bin /usr/libexec/cni /usr/lib/cni
/var/lib/rancher/k3s/data/cni /var/lib/rancher/k3s/data/current/bin /var/snap/microk8s/current/opt/cni/bin'
CONTAINERD='/etc/containerd/config.toml /var/lib/rancher/k3s/agent/etc/containerd/config.toml
/var/lib/rancher/rke2/agent/etc/containerd/config.toml /var/snap/microk8s/current/args/containerd.toml'
MODULES='ip_tables|ip6_tables|iptable_nat|ip6table_nat|nf_nat|nf_tables|nft_compat|nft_chain_nat|x_tables'
MODULES="$MODULES|xt_REDIRECT|xt_comment|xt_multiport|xt_owner"
SYSCTLS='net/ipv6/conf/all/disable_ipv6 net/ipv6/conf/default/disable_ipv6 fs/inotify/max_user_instances'
UNITS='containerd crio k3s k3s-agent rke2-server rke2-agent'
LOGS='/var/lib/rancher/k3s/agent/containerd/containerd.log /var/lib/rancher/rke2/agent/containerd/containerd.log'
SYSTEMD_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

has() { command -v "$1" > /dev/null 2>&1; }

say() { echo "gather-node.sh: $*" >&2; }

# Escapes a text for a JSON string.
plain() {
  case $1 in
    '' | *[!A-Za-z0-9._@+~,:%=/\ -]*) return 1 ;;
  esac
}

# Adds a row to a list: LIST ROW.
row() {
  if [ -s "$work/$1" ]; then printf ',\n ' >> "$work/$1"; fi
  printf '%s' "$2" >> "$work/$1"
}

list() { if [ -f "$work/$1" ]; then cat "$work/$1"; fi; }

# Records a path that could not be read: PATH REASON.
failed() {
  say "$1: $2"
  row errors "{\"path\":\"$1\",\"error\":\"$2\"}"
}

# Resolves a path of the node, with links as the node resolves them; fails if the target does not exist.
resolve() (
  rest=$1 at='' hops=0
  while [ -n "$rest" ]; do
    part=${rest%%/*}
    case $rest in */*) rest=${rest#*/} ;; *) rest='' ;; esac
    case $part in
      '' | .) continue ;;
      ..) at=${at%/*}; continue ;;
    esac
    if [ -L "$root$at/$part" ]; then
      hops=$((hops + 1))
      [ $hops -le 40 ] || return 1
      link=$(readlink "$root$at/$part") || return 1
      case $link in /*) at='' ;; esac
      rest=$link/$rest
    else
      at=$at/$part
    fi
  done
  [ -e "$root$at/" ] || [ -e "$root$at" ] || return 1
  echo "${at:-/}"
)

# Whether a directory can be listed.
listable() { [ -d "$1" ] && [ -r "$1" ] && [ -x "$1" ] && ls "$1" > /dev/null 2>&1; }

escaped() { sed 's/[][\\.*^$/(){}+?|]/\\&/g'; }

# FILE to standard output, each secret replaced by a marker that keeps its length and, of a token, which one it was.
# Fails, and writes nothing, if one cannot be replaced.
mask() (
  cat "$1" > "$work/text" || return 1
  changed=''
  while token=$(sed -n -E "s/^(.*[^A-Za-z0-9_.-])?($TOKEN).*/\\2/p" "$work/text" | head -n 1) && [ -n "$token" ]; do
    hash=''
    case $token in
      *.*.*.* | *..* | *.) ;;
      *.*.*) if has sha256sum; then hash=sha256:$(printf '%s' "$token" | sha256sum | cut -c 1-12),; fi ;;
    esac
    # Not as an argument: arguments are visible in the process list.
    printf 's/%s/REDACTED(%slen=%s)/g\n' "$token" "$hash" ${#token} > "$work/script"
    sed -f "$work/script" "$work/text" > "$work/next" && mv "$work/next" "$work/text" || return 1
    changed=1
  done
  for form in json yaml; do
    if [ $form = json ]; then
      start='' from='.*' before="\"$KEY\"[[:space:]]*:[[:space:]]*\"" value='([^"\\]|\\.)+' after='"|$'
    else
      start=^ from='' before="[[:space:]-]*${KEY}[[:space:]]*:[[:space:]]+\"?" after='"|[[:space:]]|$'
      value='[^"[:space:]{[|>]([^"]*[^"[:space:]])?'
    fi
    # Markers, and placeholders that the installer did not fill in, are not secrets.
    while
      secret=$(sed -E 's/"[^"]*REDACTED\([^"]*"/""/g; s/REDACTED\([^)]*\)//g; s/__[A-Z_]+__//g' "$work/text" |
        sed -n -E "s/^$from($before)($value)($after).*/\\5/p" | head -n 1)
      [ -n "$secret" ]
    do
      printf 's/%s(%s)%s(%s)/\\1REDACTED(len=%s)\\5/\n' "$start" \
        "$before" "$(printf '%s\n' "$secret" | escaped)" "$after" ${#secret} > "$work/script"
      sed -E -f "$work/script" "$work/text" > "$work/next" || return 1
      if cmp -s "$work/next" "$work/text"; then return 1; fi
      mv "$work/next" "$work/text"
      changed=1
    done
  done
  if grep -q '://[^/@"[:space:]]*@' "$work/text"; then
    sed 's,://[^/@"[:space:]]*@,://REDACTED(len=0)@,g' "$work/text"
  elif [ -n "$changed" ]; then
    cat "$work/text"
  else
    cat "$1"
  fi
)

# The stat fields of a path that is not a link, as fields of a row.
facts() {
  fields=$(stat -c '%a %u %g %s %Y' "$1" 2> /dev/null) || return 0
  # shellcheck disable=SC2086 # five words
  set -- $fields
  printf ',"mode":"%04d","uid":%s,"gid":%s,"size":%s' "$1" "$2" "$3" "$4"
  if at=$(date -u -d "@$5" +%Y-%m-%dT%H:%M:%SZ 2> /dev/null); then printf ',"mtime":"%s"' "$at"; fi
}

sum() { if has sha256sum; then printf ',"sha256":"%s"' "$(sha256sum < "$1" | cut -c 1-64)"; fi; }

# The rows of a directory of configuration for cni/index.json, and of the folders in it: DIR WHERE-IT-LEADS DEPTH.
index() {
  for path in "$root$2"/* "$root$2"/.[!.]*; do
    [ -e "$path" ] || [ -L "$path" ] || continue
    name=${path##*/}
    if ! plain "$name"; then
      failed "$1" 'a file name that a shell cannot write as JSON'
    elif [ -L "$path" ]; then
      link=$(readlink "$path")
      plain "$link" || link=''
      row index "{\"dir\":\"$1\",\"name\":\"$name\",\"type\":\"symlink\"${link:+,\"linkTarget\":\"$link\"}}"
    elif [ -d "$path" ]; then
      row index "{\"dir\":\"$1\",\"name\":\"$name\",\"type\":\"dir\"$(facts "$path")}"
      if [ "$3" -gt 1 ] && listable "$path"; then index "$1/$name" "$2/$name" $(($3 - 1)); fi
    elif [ -f "$path" ]; then
      row index "{\"dir\":\"$1\",\"name\":\"$name\",\"type\":\"file\"$(facts "$path")$(sum "$path")}"
    else
      row index "{\"dir\":\"$1\",\"name\":\"$name\",\"type\":\"other\"}"
    fi
  done
}

# Copies the files of a directory of configuration that matter: DIR WHERE-IT-LEADS FOLDER-OF-THE-SNAPSHOT.
copies() {
  for path in "$root$2"/* "$root$2"/.[!.]*; do
    name=${path##*/}
    plain "$name" && real=$(resolve "$1/$name") && [ -f "$root$real" ] || continue
    case $name in
      *linkerd-cni* | *.conf | *.conflist | *.json) ;;
      # Skip kubeconfigs of other programs, whatever their names.
      *kubeconfig*) continue ;;
      *)
        if grep -q users: "$root$real" && grep -q clusters: "$root$real"; then continue; fi
        { echo "$name"; cat "$root$real"; } 2> /dev/null | grep -q -E 'linkerd-cni|multus|cilium' || continue
        ;;
    esac
    if [ "$(wc -c < "$root$real")" -gt 2097152 ]; then
      failed "$1/$name" 'more than 2 MiB'
    else
      mkdir -p "$snapshot/$3"
      if ! mask "$root$real" > "$snapshot/$3/$name"; then
        rm -f "$snapshot/$3/$name"
        failed "$1/$name" 'could not be read, or a secret in it not be masked'
      fi
    fi
    case $name in *linkerd-cni*kubeconfig*) claims "$1/$name" "$root$real" ;; esac
  done
}

claim() { sed -n -E "s/.*\"$1\":$2.*/\\1/p" "$work/payload" | head -n 1; }

# The claims of the token in linkerd-cni's kubeconfig (owner, expiry), without its signature: PATH FILE.
claims() {
  has base64 || return 0
  token=$(sed -n -E 's/^[[:space:]]*token:[[:space:]]*"?(eyJ[A-Za-z0-9_.-]*)"?[[:space:]]*$/\1/p' "$2" | head -n 1)
  case $token in
    *.*.*.*) return 0 ;;
    *.*.?*) ;;
    *) return 0 ;;
  esac
  payload=$(printf '%s' "$token" | cut -d . -f 2 | tr '_-' '/+')
  case $((${#payload} % 4)) in 2) payload=$payload== ;; 3) payload=$payload= ;; esac
  printf '%s' "$payload" | base64 -d > "$work/payload" 2> /dev/null || return 0
  echo >> "$work/payload"
  word='"([A-Za-z0-9._:/@-]+)"' number='([0-9]+)'
  said=''
  for key in iss sub; do
    found=$(claim "$key" "$word")
    said=$said${found:+\"$key\":\"$found\",}
  done
  for key in iat nbf exp warnafter; do
    found=$(claim "$key" "$number")
    # If a claim was not understood, write none.
    if [ -z "$found" ] && grep -q "\"$key\":" "$work/payload"; then return 0; fi
    said=$said${found:+\"$key\":$found,}
  done
  pod=$(claim pod "\\{\"name\":$word,\"uid\":\"[A-Za-z0-9-]+\"\\}")
  uid=$(claim pod "\\{\"name\":\"[A-Za-z0-9.-]+\",\"uid\":$word\\}")
  if [ -z "$pod" ] || [ -z "$uid" ]; then
    if grep -q '"pod":' "$work/payload"; then return 0; fi
  fi
  node_name=$(claim node "\\{\"name\":$word")
  account=$(claim serviceaccount "\\{\"name\":\"[A-Za-z0-9.-]+\",\"uid\":$word\\}")
  if [ -z "$account" ]; then account=$(claim kubernetes.io/serviceaccount/service-account.uid "$word"); fi
  said=$said${pod:+\"podName\":\"$pod\",}${uid:+\"podUid\":\"$uid\",}${node_name:+\"nodeName\":\"$node_name\",}
  said=$said${account:+\"saUid\":\"$account\",}
  [ -n "$said" ] || return 0
  hash=''
  if has sha256sum; then hash=",\"tokenSha256Prefix\":\"$(printf '%s' "$token" | sha256sum | cut -c 1-12)\""; fi
  row facts "{\"path\":\"$1\",\"tokenClaims\":{${said%,}}$hash}"
}

# The values of a key in TOML files, without comments: KEY FILE...
toml() {
  key=$1
  shift
  cat "$@" | sed -n -E "s/^[[:space:]]*${key}[[:space:]]*=[[:space:]]*['\"]?([^'\"#]*[^'\"#[:space:]]).*/\\1/p"
}

# An array of texts in a TOML file, one a line: KEY FILE...
array() {
  key=$1
  shift
  cat "$@" | sed 's/#.*//' | tr '\n' ' ' |
    sed -n -E "s/.*[[:space:]]${key}[[:space:]]*=[[:space:]]*\\[([^]]*)\\].*/\\1/p" |
    tr ',' '\n' | sed -n -E "s/.*['\"]([^'\"]+)['\"].*/\\1/p"
}

# Runs a program of the node with a time limit, and only if the whole file system is available.
on_node() {
  [ -n "$whole" ] || return 1
  limit=''
  if has timeout; then limit='timeout 20'; fi
  if [ -n "$root" ]; then
    $limit chroot "$root" "$@" 2> /dev/null < /dev/null
  else
    $limit "$@" 2> /dev/null < /dev/null
  fi
}

# The state of the runtime, from crictl.
ask_runtime() {
  for program in crictl /var/lib/rancher/rke2/bin/crictl 'k3s crictl' '/usr/local/bin/k3s crictl'; do
    # shellcheck disable=SC2086 # a program and its first argument
    on_node env CRI_CONFIG_FILE="$crictl_config" $program info > "$work/info" && [ -s "$work/info" ] && return 0
  done
  : > "$work/info"
  return 1
}

said_by_runtime() { sed -n -E "s/^[[:space:]]*\"($1)\":[[:space:]]*$2,?[[:space:]]*\$/\\2/p" "$work/info" | head -n 1; }

# The directories that the runtime uses, from crictl or its configuration.
runtime() {
  crictl_config=/etc/crictl.yaml
  if [ -e "$root/var/lib/rancher/rke2/agent/etc/crictl.yaml" ]; then
    crictl_config=/var/lib/rancher/rke2/agent/etc/crictl.yaml
  fi
  conf_dir='' maximum='' network='' source=default
  files='' crio=''
  for file in $CONTAINERD; do if [ -r "$root$file" ]; then files="$files $root$file"; fi; done
  for file in /etc/crio/crio.conf /etc/crio/crio.conf.d/*; do
    for path in "$root"$file; do if [ -f "$path" ] && [ -r "$path" ]; then crio="$crio $path"; fi; done
  done
  # shellcheck disable=SC2086 # paths without blanks
  if [ -n "$crio" ]; then
    source=crio.conf
    conf_dir=$(toml network_dir $crio | tail -n 1)
    network=$(toml cni_default_network $crio | tail -n 1)
    array plugin_dirs $crio > "$work/told"
  elif [ -n "$files" ]; then
    source=config.toml
    conf_dir=$(toml conf_dir $files | sort -u)
    maximum=$(toml max_conf_num $files | sort -u)
    { toml bin_dir $files; array bin_dirs $files; } | sort -u > "$work/told"
  fi
  if ask_runtime; then
    found=$(said_by_runtime 'confDir|PluginConfDir' '"([^"]+)"')
    if [ -n "$found" ]; then
      source=crictl conf_dir=$found
      found=$(said_by_runtime 'maxConfNum|PluginMaxConfNum' '([0-9]+)')
      maximum=${found:-$maximum}
      found=$(said_by_runtime binDir '"([^"]+)"')
      if [ -n "$found" ]; then echo "$found" > "$work/told"; fi
    fi
    # Keep nothing else of the output: it can contain registry credentials.
    status=$(said_by_runtime lastCNILoadStatus '"(.+)"')
    if [ -n "$status" ]; then
      mkdir -p "$snapshot/runtime"
      printf '{"lastCNILoadStatus":"%s"}\n' "$status" > "$work/status"
      mask "$work/status" > "$snapshot/runtime/info.json" || rm -f "$snapshot/runtime/info.json"
    fi
  fi
  conf_dir=${conf_dir%/}
  case $conf_dir in /*) plain "$conf_dir" || conf_dir='' ;; *) conf_dir='' ;; esac
  case $maximum in *[!0-9]*) maximum='' ;; esac
  plain "$network" || network=''
  if [ -n "$confs" ]; then
    source=flag
    conf_dir=$(printf '%s\n' "$confs" | head -n 1)
  fi
  if [ -n "$bins" ]; then printf '%s\n' "$bins" > "$work/told"; fi
}

# cni/: listings and copies of the directories of configuration, and a listing of those of the plugins.
cni() {
  mkdir -p "$snapshot/cni"
  # With -c, only those directories: other parts of the file system may not have been copied.
  { if [ -n "$confs" ]; then printf '%s\n' "$confs"; else printf '%s\n' "$conf_dir" $CONF_DIRS; fi; } |
    grep / | sort -u > "$work/confs"
  while read -r dir; do
    real=$(resolve "$dir") || real=''
    if [ -n "$real" ] && listable "$root$real"; then
      row dirs "{\"path\":\"$dir\",\"exists\":true}"
      index "$dir" "$real" 2
      folder=cni/other/$(printf '%s' "$dir" | sed 's,/,%2F,g')
      if [ "$dir" = "${conf_dir:-/etc/cni/net.d}" ]; then folder=cni/net.d; fi
      copies "$dir" "$real" "$folder"
    elif [ -n "$real" ]; then
      failed "$dir" 'cannot be listed'
    elif [ -n "$whole" ]; then
      row dirs "{\"path\":\"$dir\",\"exists\":false}"
    fi
  done < "$work/confs"
  : > "$work/bins"
  while read -r dir; do
    case $dir in /*) plain "$dir" && echo "${dir%/}" >> "$work/bins" ;; esac
  done < "$work/told"
  while read -r dir; do row told_json "\"$dir\""; done < "$work/bins"
  {
    printf '{'
    if [ -n "$conf_dir" ]; then printf '"confDir":"%s",' "$conf_dir"; fi
    if [ -s "$work/told_json" ]; then printf '"binDirs":[%s],' "$(list told_json)"; fi
    if [ -n "$maximum" ]; then printf '"maxConfNum":%s,' "$maximum"; fi
    if [ -n "$network" ]; then printf '"cniDefaultNetwork":"%s",' "$network"; fi
    printf '"source":"%s","dirs":[%s]}\n' "$source" "$(list dirs)"
  } > "$snapshot/cni/dirs.json"
  printf '[%s]\n' "$(list index)" > "$snapshot/cni/index.json"
  if [ -s "$work/facts" ]; then printf '[%s]\n' "$(list facts)" > "$snapshot/cni/kubeconfig.facts.json"; fi
  looked=''
  if [ -z "$bins" ]; then printf '%s\n' $BIN_DIRS >> "$work/bins"; fi
  sort -u "$work/bins" > "$work/bin_dirs"
  while read -r dir; do
    real=$(resolve "$dir") || continue
    if ! listable "$root$real"; then
      failed "$dir" 'cannot be listed'
      continue
    fi
    looked=1
    for path in "$root$real"/*; do
      name=${path##*/}
      plain "$name" && file=$(resolve "$dir/$name") && [ -f "$root$file" ] || continue
      hash=''
      if [ "$name" = linkerd-cni ]; then hash=$(sum "$root$file"); fi
      row bin "{\"dir\":\"$dir\",\"name\":\"$name\"$(facts "$root$file")$hash}"
    done
  done < "$work/bin_dirs"
  if [ -n "$looked" ]; then printf '{"entries":[%s]}\n' "$(list bin)" > "$snapshot/cni/bin.json"; fi
}

# PATH of the container runtime's process, used to find nsenter and iptables.
runtime_path() {
  for comm in "$root"/proc/[0-9]*/comm; do
    read -r name 2> /dev/null < "$comm" || continue
    case $name in
      containerd | crio) tr '\0' '\n' 2> /dev/null < "${comm%/comm}/environ" | sed -n 's/^PATH=//p' ;;
    esac
  done | sort -u
}

# host/binaries.json: the programs that linkerd-cni can run, on that PATH.
binaries() {
  [ -n "$whole" ] || return 0
  path_source=environ
  search=$(runtime_path 2> /dev/null)
  case $search in
    *'
'*) search='' ;;
  esac
  if ! plain "$search"; then search=$SYSTEMD_PATH path_source=default; fi
  names=nsenter
  for family in iptables ip6tables; do
    for variant in '' -nft -legacy; do names="$names $family$variant $family$variant-save"; done
  done
  readable=''
  for dir in $(printf '%s' "$search" | tr ':' ' '); do
    real=$(resolve "$dir") || continue
    if listable "$root$real"; then readable="$readable $dir"; else failed "$dir" 'cannot be listed'; return 0; fi
  done
  for name in $names; do
    found=''
    for dir in $readable; do
      real=$(resolve "$dir/$name") && [ -f "$root$real" ] || continue
      executable=false
      case $(stat -c %a "$root$real" 2> /dev/null) in *[1357]*) executable=true ;; '') executable=null ;; esac
      # The runtime skips files that it may not execute.
      if [ $executable = false ] && [ -n "$found" ]; then continue; fi
      links=''
      if [ "$real" != "$dir/$name" ] && plain "$real"; then links=",\"links\":[\"$real\"]"; fi
      found="{\"name\":\"$name\",\"path\":\"$dir/$name\",\"executable\":$executable$links}"
      if [ $executable != false ]; then break; fi
    done
    if [ -z "$found" ]; then found="{\"name\":\"$name\",\"path\":null}"; fi
    row binaries "$found"
  done
  printf '{"runtimePath":"%s","pathSource":"%s","binaries":[%s]}\n' "$search" "$path_source" "$(list binaries)" \
    > "$snapshot/host/binaries.json"
}

# host/: the operating system, its kernel and its modules.
host() {
  mkdir -p "$snapshot/host"
  for file in /etc/os-release /usr/lib/os-release; do
    if real=$(resolve "$file") && [ -r "$root$real" ]; then
      cat "$root$real" > "$snapshot/host/os-release"
      break
    fi
  done
  release=''
  if read -r release 2> /dev/null < "$root/proc/sys/kernel/osrelease"; then echo "$release" > "$snapshot/host/uname"; fi
  # Loaded or built in: with only one of the two lists, the others would seem absent.
  builtin=''
  for dir in /lib/modules /usr/lib/modules; do
    if real=$(resolve "$dir/$release/modules.builtin") && [ -r "$root$real" ]; then builtin=$root$real; fi
  done
  if [ -n "$release" ] && [ -r "$root/proc/modules" ] && [ -n "$builtin" ]; then
    { cut -d ' ' -f 1 "$root/proc/modules"; sed -e 's,.*/,,' -e 's/\.ko.*//' "$builtin"; } | tr - _ |
      grep -x -E "$MODULES" | sort -u > "$snapshot/host/modules.txt"
  elif [ -n "$whole" ]; then
    failed /lib/modules 'the lists of kernel modules could not both be read'
  fi
  for key in $SYSCTLS; do
    if read -r value 2> /dev/null < "$root/proc/sys/$key" && plain "$value"; then
      row sysctl "\"$(printf '%s' "$key" | tr / .)\":\"$value\""
    fi
  done
  if [ -s "$work/sysctl" ]; then printf '{%s}\n' "$(list sysctl)" > "$snapshot/host/sysctl.json"; fi
  if read -r mode 2> /dev/null < "$root/sys/fs/selinux/enforce"; then
    case $mode in 1) mode=enforcing ;; *) mode=permissive ;; esac
    printf '{"selinux":"%s"}\n' "$mode" > "$snapshot/host/lsm.json"
  fi
  binaries
}

# logs/: log lines of the runtime about CNI, of one day.
logs() {
  units=''
  for unit in $UNITS; do units="$units -u $unit"; done
  {
    # shellcheck disable=SC2086 # pairs of words
    on_node journalctl -q --no-pager -o short-iso --since -24h $units
    for file in $LOGS; do if [ -r "$root$file" ]; then tail -n 20000 "$root$file"; fi; done
  } | grep -i -E 'cni|nsenter|iptables' | tail -n 2000 > "$work/log"
  if [ -s "$work/log" ]; then
    mkdir -p "$snapshot/logs"
    mask "$work/log" > "$snapshot/logs/runtime.txt" || rm -f "$snapshot/logs/runtime.txt"
  fi
}

meta() {
  {
    printf '{"schema":"node-snapshot/1","collector":"gather-node.sh 1","collectedAt":"%s"' "$began"
    if [ -n "$node" ]; then printf ',"node":"%s"' "$node"; fi
    if [ -n "$root" ] && plain "$root"; then printf ',"hostRoot":"%s"' "$root"; fi
    printf ',"errors":[%s]}\n' "$(list errors)"
  } > "$snapshot/meta.json"
}

usage() {
  say "$1; the first lines of this script say how it is used"
  exit 2
}

main() {
  LC_ALL=C
  PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  export LC_ALL PATH
  umask 077
  root='' node='' as_text='' confs='' bins=''
  newline='
'
  while getopts r:n:c:b:t option; do
    case $option in
      r) root=${OPTARG%/} ;;
      n) node=$OPTARG ;;
      c) confs=$confs${confs:+$newline}${OPTARG%/} ;;
      b) bins=$bins${bins:+$newline}${OPTARG%/} ;;
      t) as_text=1 ;;
      *) usage 'an unknown option' ;;
    esac
  done
  [ $OPTIND -gt $# ] || usage 'it takes no arguments'
  [ -z "$node" ] || plain "$node" || usage "$node cannot be the name of a node"
  [ -d "$root/" ] || usage "$root is not a folder"
  for program in cat cmp cut date grep head ls mkdir mktemp mv readlink rm sed sort tail tar tr wc base64; do
    has "$program" || [ "$program$as_text" = base64 ] || { say "it needs $program, which is not here"; exit 1; }
  done
  # Paths are built from the root, so it must be absolute.
  if [ -n "$root" ]; then root=$(cd "$root" && pwd) || exit 1; fi
  if [ "$root" = / ]; then root=''; fi
  if [ "$(id -u 2> /dev/null)" != 0 ]; then say 'not root: what it may not read will be missing'; fi
  # In a partial file system, missing files may just not have been copied.
  whole=''
  for dir in /usr/bin /usr/sbin /bin; do if [ -d "$root/etc" ] && [ -d "$root$dir" ]; then whole=1; fi; done
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  snapshot=$work/snapshot
  mkdir "$snapshot"
  : > "$work/told"
  began=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  runtime
  cni
  host
  logs
  meta
  if [ -n "$as_text" ]; then
    echo '-----BEGIN NODE SNAPSHOT-----'
    tar -cf - -C "$snapshot" . | base64
    echo '-----END NODE SNAPSHOT-----'
  else
    tar -cf - -C "$snapshot" .
  fi
}

main "$@"
exit
