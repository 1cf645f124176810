# Template of the Homebrew formula. The release workflow replaces the {{ }} placeholders by version, URLs and checksums;
# it cannot be installed before that.
class Meshdoctor < Formula
  desc "Find what is wrong with a Linkerd mesh"
  homepage "https://github.com/meshdoctor/meshdoctor"
  version "{{ NUMBER }}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{ BASE }}/meshdoctor-{{ VERSION }}-aarch64-apple-darwin.tar.gz"
      sha256 "{{ SHA256 aarch64-apple-darwin }}"
    end
    on_intel do
      url "{{ BASE }}/meshdoctor-{{ VERSION }}-x86_64-apple-darwin.tar.gz"
      sha256 "{{ SHA256 x86_64-apple-darwin }}"
    end
  end

  on_linux do
    on_arm do
      url "{{ BASE }}/meshdoctor-{{ VERSION }}-aarch64-unknown-linux-musl.tar.gz"
      sha256 "{{ SHA256 aarch64-unknown-linux-musl }}"
    end
    on_intel do
      url "{{ BASE }}/meshdoctor-{{ VERSION }}-x86_64-unknown-linux-musl.tar.gz"
      sha256 "{{ SHA256 x86_64-unknown-linux-musl }}"
    end
  end

  def install
    bin.install "meshdoctor"
    generate_completions_from_executable(bin/"meshdoctor", "completions")
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match "cni-exit-127", shell_output("#{bin}/meshdoctor demo")
  end
end
