/** The kinds of images that are shown. SVG is left out: it is a document. */
const shown = /^data:image\/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$/;

/** How much of a long text is looked at: a test of all of it would take as long as it is. */
const headLength = 200;

/** The URL of an image that is in the data itself; undefined for anything else. */
export const imageOf = (text: string): string | undefined =>
  shown.test(text.slice(0, headLength)) ? text : undefined;
