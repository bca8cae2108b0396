import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * What a host program does once instead of its work: end with 7 at once; work, then end with 7; wait
 * for as long as it is held, then work; print 300,000 lines, then work.
 */
export const PROGRAM_FAULTS = ['fails', 'fails late', 'hangs', 'floods'] as const;
export type ProgramFault = (typeof PROGRAM_FAULTS)[number];

/** Host programs that can be made to misbehave, and a record of what ran beside what. */
export interface Programs {
  /** The folder to put at the head of PATH. */
  readonly bin: string;
  /** A script that enters the calling process, whose id it gets, as working for its job. */
  readonly beginWork: string;
  /** The n-th call from now misbehaves, counted from 0. */
  readonly misbehave: (name: string, fault: ProgramFault, call: number) => Promise<void>;
  /** Takes the program away. */
  readonly remove: (name: string) => Promise<void>;
  /** Ends what was arranged, and lets go of what is held. */
  readonly behave: () => Promise<void>;
}

/** @param folder for the control files; `overlaps` in it names processes of two jobs at once */
export async function createPrograms(
  folder: string,
  programs: Readonly<Record<string, string>>,
): Promise<Programs> {
  const bin = join(folder, 'bin');
  const beginWork = join(folder, 'begin-work');
  await mkdir(bin, { recursive: true });
  await mkdir(join(folder, 'working'), { recursive: true });
  await writeFile(beginWork, beginWorkScript(folder));
  for (const [name, real] of Object.entries(programs)) {
    await writeFile(join(bin, name), wrapper({ folder, beginWork, name, real }));
    await chmod(join(bin, name), 0o755);
  }
  let holds = 0;
  return {
    bin,
    beginWork,
    misbehave: async (name, fault, call) => {
      // A file of its own: one that is let go must not be held again by the next one.
      const held = `held-${(holds += 1)}`;
      await writeFile(join(folder, held), '');
      await writeFile(join(folder, `${name}.fault`), `${call} ${held} ${fault}\n`);
    },
    remove: (name) => rename(join(bin, name), join(folder, `${name}.away`)).catch(() => undefined),
    behave: async () => {
      for (const entry of await readdir(folder)) {
        if (entry.startsWith('held-')) await rm(join(folder, entry), { force: true });
      }
      for (const name of Object.keys(programs)) {
        await rm(join(folder, `${name}.fault`), { force: true });
        await rename(join(folder, `${name}.away`), join(bin, name)).catch(() => undefined);
      }
    },
  };
}

/** Two processes that live at one time and work for two jobs are told; each lane has one job. */
function beginWorkScript(folder: string): string {
  return `cd '${folder}' || exit 0
for file in working/*; do
	[ -e "$file" ] || continue
	pid=\${file##*/}
	read -r job <"$file"
	[ "$job" != "$DEPOTD_JOB" ] || continue
	if tr '\\0' '\\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "DEPOTD_JOB=$job"; then
		echo "$1 of $DEPOTD_JOB began while $pid of $job lived" >>overlaps
	else
		rm -f "$file"
	fi
done
echo "$DEPOTD_JOB" >"working/$1"
`;
}

function wrapper({
  folder,
  beginWork,
  name,
  real,
}: Record<'folder' | 'beginWork' | 'name' | 'real', string>): string {
  return `#!/bin/sh
calls=0 held= fault=
if [ -e '${folder}/${name}.fault' ]; then
	read -r calls held fault <'${folder}/${name}.fault'
	if [ "$calls" -gt 0 ]; then
		echo "$((calls - 1)) $held $fault" >'${folder}/${name}.fault'
		fault=
	else
		rm -f '${folder}/${name}.fault'
		echo "{\\"program\\":\\"${name}\\",\\"fault\\":\\"$fault\\"}" >>'${folder}/events'
	fi
fi
case " $* " in
*' install '* | *' remove '* | *' upgrade '* | *' configure '* | *' update '*) sh '${beginWork}' $$ ;;
esac
case $fault in
fails) echo '${name}: made to fail' >&2; exit 7 ;;
'fails late') '${real}' "$@"; exit 7 ;;
hangs) while [ -e "${folder}/$held" ]; do sleep 0.05; done ;;
floods) seq -f '${name}: flood %.0f' 1 300000 ;;
esac
exec '${real}' "$@"
`;
}
