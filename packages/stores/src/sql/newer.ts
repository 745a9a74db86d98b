import { PROGRAM } from '../program.ts'

const BACKUP = 'restore a backup made before the upgrade in an empty place.'

/** What somebody reads whose server is older than the data, in one sentence; `back` is a nearer way than a backup. */
export function newerThan(
  newest: number,
  { version, program }: { version: number; program: string | undefined },
  back = BACKUP,
): string {
  const by = program === undefined ? 'a newer server' : `a newer server, version ${program}`
  return `It was written by ${by} (schema ${version}; this is ${PROGRAM}, which knows up to ${newest}), and is unchanged: start the newer server again, or ${back}`
}
