#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=75
// `npx agent-server`: as `npm start` in a clone, with the data in the folder where it is run.
require('./preload.cjs')
void import('./main.ts')
