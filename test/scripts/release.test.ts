import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { releaseFiles } from '../../scripts/release.ts'
import { ROOT } from '../support/source-tree.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const run = promisify(execFile)
const FILES = [
  'package.json',
  'packages/client/package.json',
  'package-lock.json',
  'packages/client-python/src/agent_server_client/version.py',
  'deploy/kubernetes/kustomization.yaml',
  'CHANGELOG.md',
]
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')

/** A repository with what a release changes, and the script. */
async function repository() {
  const directory = await temporaryDirectory()
  for (const path of [...FILES, 'scripts/release.ts'])
    await cp(new URL(path, ROOT), join(directory, path))
  const git = async (...parameters: string[]) => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    const { stdout } = await run('git', [...identity, ...parameters], { cwd: directory })
    return stdout.trim()
  }
  await git('init', '--quiet')
  await git('add', '--all')
  await git('commit', '--quiet', '--message', 'Begin')
  const release = (...parameters: string[]) =>
    run(process.execPath, [join(directory, 'scripts/release.ts'), ...parameters], {
      env: {
        ...process.env,
        GIT_AUTHOR_NAME: 'Ada',
        GIT_AUTHOR_EMAIL: 'ada@example.org',
        GIT_COMMITTER_NAME: 'Ada',
        GIT_COMMITTER_EMAIL: 'ada@example.org',
      },
    })
  return { directory, git, release }
}

describe('A release', () => {
  it('sets the version in every place', () => {
    const files = releaseFiles('98.7.6', '2030-01-02', read)
    expect([...files.keys()].toSorted()).toEqual(FILES.toSorted())
    const count = (path: string) => files.get(path)?.split('98.7.6').length
    expect(count('package-lock.json')).toBe(4)
    expect(FILES.filter((path) => path !== 'package-lock.json').map(count)).toEqual([2, 2, 2, 2, 2])
    expect(files.get('CHANGELOG.md')).toContain('## Unreleased\n\n## 98.7.6 (2030-01-02)\n\n')
  })

  it.each(['1.2', 'v1.2.3', '1.2.3-beta.1', '1.2.3\n'])('refuses the version %j', (version) => {
    expect(() => releaseFiles(version, '2030-01-02', read)).toThrow('is no version')
  })

  it('is refused where nothing was written since the last one', () => {
    const empty = (path: string) =>
      path === 'CHANGELOG.md' ? '## Unreleased\n\n## 0.1.0 (2026-01-01)\n\nx\n' : read(path)
    expect(() => releaseFiles('98.7.6', '2030-01-02', empty)).toThrow('CHANGELOG.md lacks')
  })

  it('changes nothing by itself, and commits and tags when asked to', async () => {
    const { directory, git, release } = await repository()
    const { stdout } = await release('--version', '98.7.6')
    expect(stdout).toContain('Nothing is written')
    expect(await git('status', '--porcelain')).toBe('')
    expect(await git('tag')).toBe('')

    const done = await release('--version', '98.7.6', '--write')
    expect(done.stdout).toContain('git push --atomic origin HEAD v98.7.6')
    expect(await git('status', '--porcelain')).toBe('')
    expect(await git('log', '-1', '--format=%s %(describe:exact-match)')).toContain(
      'Release 98.7.6',
    )
    expect(await git('tag', '--points-at', 'HEAD')).toBe('v98.7.6')
    expect(await readFile(join(directory, 'package.json'), 'utf8')).toContain('"98.7.6"')
    await expect(release('--version', '98.7.6')).rejects.toThrow('already')
  })

  it('is refused where changes are not committed', async () => {
    const { directory, release } = await repository()
    await cp(new URL('LICENSE', ROOT), join(directory, 'LICENSE'))
    await expect(release('--version', '98.7.6', '--write')).rejects.toThrow('not committed')
  })
})
