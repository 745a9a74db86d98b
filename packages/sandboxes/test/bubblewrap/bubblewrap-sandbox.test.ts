import { describe, expect, it } from 'vitest'
import { bubblewrapParameters } from '../../src/bubblewrap/bubblewrap-sandbox.ts'
import { SandboxLimits } from '../../src/limits.ts'

const LIMITS = SandboxLimits.parse({ memoryMegabytes: 100, processes: 12, fileMegabytes: 10 })
const all = bubblewrapParameters(LIMITS, true)
const own = all.slice(0, all.indexOf('--'))
const program = all.slice(all.indexOf('--') + 1)

/** Where an option stands whose first value is this. */
const placeOf = (option: string, value: string) =>
  own.findIndex((word, i) => word === option && own[i + 1] === value)

describe('The arguments of bubblewrap', () => {
  it.each([
    '--unshare-all',
    '--unshare-user',
    '--disable-userns',
    '--die-with-parent',
    '--clearenv',
  ])('holds %s', (option) => expect(own).toContain(option))

  it('takes every capability away, and the terminal', () => {
    expect(own[own.indexOf('--cap-drop') + 1]).toBe('ALL')
    expect(own).toContain('--new-session')
  })

  it('shows nothing of the machine but /usr and what its loader needs, all of it read-only', () => {
    const bound = own.flatMap((word, i) => (word.includes('bind') ? [own[i + 1]] : []))
    expect(bound).toEqual(['/usr', '/etc/ld.so.cache', '/etc/alternatives'])
    expect(own.filter((word) => /^--(dev-)?bind/.test(word))).toEqual([])
  })

  it('hides what an administrator has installed by hand', () => {
    for (const path of ['/usr/local', '/usr/src']) {
      expect(placeOf('--tmpfs', path)).toBeGreaterThan(placeOf('--ro-bind', '/usr'))
      expect(placeOf('--remount-ro', path)).toBeGreaterThan(placeOf('--tmpfs', path))
    }
  })

  it('closes the root and /dev after everything has its place there', () => {
    const lastMount = Math.max(...['/files', '/dev/shm'].map((path) => placeOf('--tmpfs', path)))
    expect(placeOf('--remount-ro', '/')).toBeGreaterThan(lastMount)
    expect(placeOf('--remount-ro', '/dev')).toBeGreaterThan(placeOf('--tmpfs', '/dev/shm'))
  })

  it('bounds every place that can be written to', () => {
    for (const path of ['/files', '/dev/shm']) {
      expect(own[placeOf('--tmpfs', path) - 2]).toBe('--size')
    }
    expect(own[placeOf('--tmpfs', '/files') - 1]).toBe(String(10 * 2 ** 20))
  })

  it('starts Python within the limits of each process', () => {
    expect(program[0]).toBe('/usr/bin/prlimit')
    expect(program).toEqual(
      expect.arrayContaining([
        `--as=${200 * 2 ** 20}`,
        '--nproc=12',
        `--fsize=${10 * 2 ** 20}`,
        '--core=0',
        '/usr/bin/python3',
        '-I',
      ]),
    )
  })

  it('names the filter of system calls only where there is one', () => {
    expect(own[own.indexOf('--seccomp') + 1]).toBe('3')
    expect(bubblewrapParameters(LIMITS, false)).not.toContain('--seccomp')
  })
})
