import { readFileSync } from 'node:fs'
import { z } from 'zod'

const Manifest = z.object({ version: z.string() })
const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

/** The version of this program. */
export const PROGRAM: string = Manifest.parse(JSON.parse(manifest)).version
