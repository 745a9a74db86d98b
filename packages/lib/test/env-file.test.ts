import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { cutVariables } from '@agent-server/lib/env-file.ts'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/support/temporary-files.ts'

// docker/compose#9509
it('Variables that a file cuts short at a # are found, and no others', async () => {
  const cut = [
    'A=ab#cd',
    'export B = x y#z',
    'C=postgres://u:p#w@host/db',
    'D=x#y # and a note',
    'E.1-F=x#y',
  ]
  const whole = ['E="ab#cd"', "F='ab#cd'", 'G=ab # note', 'H=ab # no#te', '#I=a#b', 'J=# no value']
  const within = ['L="first', 'M=ab#cd', '"', 'N=ab#cd', 'N=later', 'O=ab#cd']
  const text = [...cut, ...whole, ...within, 'K=last'].join('\r\n')
  const path = join(await temporaryDirectory(), '.env')
  await writeFile(path, text)
  const environment = { A: 'ab', O: 'of the process' }
  expect(cutVariables(path, environment)).toEqual(['A', 'B', 'C', 'D', 'E.1-F'])
  const { A, B, G, K } = parseEnv(text)
  expect({ A, B, G, K }).toEqual({ A: 'ab', B: 'x y', G: 'ab', K: 'last' })
  expect(cutVariables(`${path}.missing`, {})).toEqual([])
})
