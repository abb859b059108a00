/** Programs that start another program, named in their arguments. */
export const WRAPPERS =
  /^(?:env|timeout|nice|ionice|nohup|stdbuf|setsid|setarch|taskset|chrt|numactl|time|xargs|parallel|watch|find|flock|sudo|doas|su|runuser|chroot|unshare|nsenter|setpriv|firejail|bwrap|systemd-run|strace|ltrace|gdb|script|unbuffer|expect|rlwrap|winpty|caffeinate|arch|busybox|toybox|tini|dumb-init|direnv|mise|asdf|nix|nix-shell|conda|poetry|pipenv|hatch|pdm|rye|bundle|dotenv|dotenvx|doppler|op|cross-env|concurrently|nodemon|command|exec|open)$/i
