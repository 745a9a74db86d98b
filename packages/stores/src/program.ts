import { readFileSync } from 'node:fs'

const file = new URL('../../../package.json', import.meta.url)
const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'))
const hasVersion = typeof manifest === 'object' && manifest !== null && 'version' in manifest

/** The version of this program. */
export const PROGRAM: string = hasVersion ? String(manifest.version) : 'unknown'
