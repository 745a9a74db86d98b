import { CHECK_NAMES, runChecks } from './checks.ts'

const asked = process.argv.slice(2)
const names = CHECK_NAMES.filter((name) => asked.length === 0 || asked.includes(name))
if (names.length === 0)
  throw new Error(`There is no such check; there are: ${CHECK_NAMES.join(', ')}`)
const failed = await runChecks(names)
console.log(failed.length === 0 ? '\nall is well' : `\nfailed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
