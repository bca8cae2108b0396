import { simplePackage } from '../../device/packages/package-parts.ts';
import type { FeedPackage } from '../../device/feed-index.ts';

interface ContainerApp {
  /** Of its script, behind `#!/bin/sh`. */
  script?: string;
  /** Of its settings: lines of options. */
  settings?: string;
  scripts?: FeedPackage['scripts'];
}

/** A container app as iStore has them: a package of LuCI with a script for its container. */
export function containerApp(app: string, options: ContainerApp = {}): FeedPackage {
  const { script = runScript(app), settings = '', scripts } = options;
  return simplePackage(`luci-app-${app}`, {
    files: {
      [`/usr/libexec/istorec/${app}.sh`]: { mode: 0o755, content: `#!/bin/sh\n${script}` },
      [`/etc/config/${app}`]: `config main 'main'\n${settings}`,
    },
    conffiles: [`/etc/config/${app}`],
    ...(scripts !== undefined && { scripts }),
  });
}

export function runScript(name: string): string {
  return `cmd="docker run --restart=unless-stopped -d -v \\"$config:/config\\""
cmd="$cmd --name ${name} \\"$IMAGE\\""
case $1 in
rm) docker rm -f ${name} ;;
start | stop) docker $1 ${name} ;;
status) docker ps --all -f 'name=^/${name}$' --format '{{.State}}' ;;
esac
`;
}
