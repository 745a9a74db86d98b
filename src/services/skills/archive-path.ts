import { SkillError } from './skill.ts'

const MAXIMUM_PATH = 300

/**
 * The path of an entry, if it may be used: below the archive's root on every system. Nothing for what is of
 * no use, such as hidden files. Throws `SkillError` for a way out.
 */
export function archivePath(entry: string): string | undefined {
  const path = entry.replace(/^(?:\.\/)+/, '')
  const steps = path.split('/')
  const isWayOut = path.startsWith('/') || steps.includes('..') || /[\\:\p{Cc}]/u.test(path)
  if (isWayOut || path.length > MAXIMUM_PATH) {
    throw new SkillError('The archive holds a path that leads out of it or cannot be kept')
  }
  const isHidden = steps.some((step) => step.startsWith('.') || step === '__MACOSX')
  return path === '' || isHidden ? undefined : path
}
