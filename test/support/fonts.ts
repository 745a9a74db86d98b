import { FONT_FILES } from '@agent-server/lib/text/fonts.ts'

/** Are the optional packages with the fonts of East Asia installed? `npm install --no-save @embedpdf/fonts-{kr,sc}` */
export const hasFonts = FONT_FILES.chinese !== undefined && FONT_FILES.korean !== undefined
