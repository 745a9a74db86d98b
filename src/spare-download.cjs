// `preinstall` of the npm package, which npm runs before the `postinstall` of onnxruntime-node. That one would fetch
// libraries for graphics cards, hundreds of megabytes from outside npm, of which nothing here makes use.
const { rmSync, writeFileSync } = require('node:fs')
const { dirname, join } = require('node:path')

try {
  const script = join(
    dirname(require.resolve('onnxruntime-node/package.json')),
    'script/install.js',
  )
  // Not overwritten: it may be a link into a store that other projects share.
  rmSync(script)
  writeFileSync(script, '')
} catch (error) {
  // Some package managers install dependencies later; then it is fetched.
  if (error.code !== 'MODULE_NOT_FOUND') throw error
}
