import { expect, it } from 'vitest'
import { ownManifests, publishedManifest } from '../../scripts/pack.ts'
import { ownPackages } from '../support/own-packages.ts'

it('The package that is published depends on all that the packages within it load', async () => {
  const { dependencies } = await publishedManifest(await ownManifests())
  const all = Object.assign({}, ...ownPackages.map((own) => own.dependencies))
  expect(Object.keys(all).length).toBeGreaterThan(10)
  expect(dependencies).toMatchObject(all)
  expect(Object.keys(dependencies).filter((name) => name.startsWith('@agent-server/'))).toEqual([])
})
