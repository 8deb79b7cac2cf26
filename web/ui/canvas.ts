/** What is drawn on canvases, which follow neither styles nor the density of a screen by themselves. */

/** A token's color as the canvas takes it: `light-dark()` is resolved only where it is used. */
export const resolveColor = (element: HTMLElement, token: string): string => {
  element.style.color = `var(--${token})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
};

/** Draws again when the theme changes, since a canvas does not follow styles. */
export const onTheme = (draw: () => void): (() => void) => {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const chosen = new MutationObserver(draw);
  system.addEventListener('change', draw);
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    system.removeEventListener('change', draw);
    chosen.disconnect();
  };
};

/**
 * Makes a canvas as dense as the screen, where it is not yet.
 *
 * @returns what draws on it, in pixels of styles; undefined while it has no room
 */
export const toContext = (
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | undefined => {
  const density = window.devicePixelRatio || 1;
  const across = Math.round(width * density);
  const down = Math.round(height * density);
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  const context = canvas.getContext('2d');
  if (!context || across === 0 || down === 0) return undefined;
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
};
