/** Up to this length, in UTF-16 units, a text is sought with what V8 has: at worst so many looks a unit. */
const short = 64;

/**
 * How far the beginning of a text that ends at each place of it is a beginning of the text itself: the
 * failure function of Knuth, Morris and Pratt (https://doi.org/10.1137/0206024).
 */
const borders = (text: string): Uint32Array => {
  const lengths = new Uint32Array(text.length);
  for (let at = 1, length = 0; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(at) !== text.charCodeAt(length)) length = lengths[length - 1] ?? 0;
    if (text.charCodeAt(at) === text.charCodeAt(length)) length++;
    lengths[at] = length;
  }
  return lengths;
};

/**
 * Whether a text has another in it. It takes time in proportion to both texts together.
 * `String.includes` takes time in proportion to their product for some, which is minutes for texts of
 * a megabyte.
 */
export const includes = (text: string, sought: string): boolean => {
  if (sought.length <= short) return text.includes(sought);
  if (sought.length > text.length) return false;
  const lengths = borders(sought);
  for (let at = 0, length = 0; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(at) !== sought.charCodeAt(length)) length = lengths[length - 1] ?? 0;
    if (text.charCodeAt(at) === sought.charCodeAt(length)) length++;
    if (length === sought.length) return true;
  }
  return false;
};
