import { showWith } from './frame.ts'

// The policy of this page lets no script of the text run, nor load anything.
showWith((text) => {
  const { documentElement: shown } = new DOMParser().parseFromString(text, 'text/html')
  document.documentElement.replaceWith(shown)
})
