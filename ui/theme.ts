import { effect, signal } from '@preact/signals'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'agent-server.theme'

export const theme = signal<Theme>(storedTheme())

effect(() => {
  const { documentElement: root } = document
  if (theme.value === 'system') delete root.dataset.theme
  else root.dataset.theme = theme.value
  localStorage.setItem(KEY, theme.value)
})

function storedTheme(): Theme {
  const value = localStorage.getItem(KEY)
  return THEMES.find((one) => one === value) ?? 'system'
}
