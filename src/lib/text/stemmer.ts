import { createRequire } from 'node:module'
import type * as Stemmers from 'snowball-stemmers'

// All languages are in one file of 850 kB, of which Node.js keeps a second copy where a module imports it.
export const { newStemmer }: typeof Stemmers = createRequire(import.meta.url)('snowball-stemmers')
