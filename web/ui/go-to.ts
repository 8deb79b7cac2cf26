/** Goes to what appears where its reader does not see it, such as below a long list. A ref of its element. */
export const goTo = (pane: HTMLElement | null): void => {
  const { top = 0 } = pane?.getBoundingClientRect() ?? {};
  if (top >= 0 && top < innerHeight / 2) return;
  pane?.scrollIntoView();
  pane?.focus({ preventScroll: true });
};
