import { createContext, type RefObject, useContext, useEffect } from 'react';

/** What is looked for in the texts below, in lower case; empty for nothing. */
export const Sought = createContext('');

/** Says of a text whether it has what is looked for. What is folded away opens for it. */
export const useIsSought = (): ((text: string) => boolean) => {
  const sought = useContext(Sought);
  return (text) => sought !== '' && text.toLowerCase().includes(sought);
};

/** More marks would take long, and nobody looks at them all. */
const maxMarks = 500;

/** The places of a text in what an element shows. A text that goes over several elements is found in none. */
const findRanges = (element: HTMLElement, sought: string): Range[] => {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node && ranges.length < maxMarks; node = texts.nextNode()) {
    const text = node.textContent ?? '';
    const lower = text.toLowerCase();
    // Some letters are longer in lower case, and then places are others.
    if (lower.length !== text.length) continue;
    for (let at = lower.indexOf(sought); at >= 0; at = lower.indexOf(sought, at + sought.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + sought.length);
      ranges.push(range);
    }
  }
  return ranges;
};

/** The name that the styles have for the marks: `::highlight(sought)`. */
const name = 'sought';

/**
 * Marks a text wherever it stands in an element, without changing the document. The first one in the pane
 * that is read comes into sight, once for each `place`.
 *
 * @param pane the selector of that pane
 */
export const useMarks = (
  root: RefObject<HTMLElement | null>,
  sought: string,
  pane: string,
  place: string | undefined,
): void => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another place is looked at anew
  useEffect(() => {
    const { current: element } = root;
    // Older browsers have no marks of this kind.
    if (!element || sought === '' || !('highlights' in CSS)) return;
    let frame = 0;
    let isShown = false;
    const mark = () => {
      const ranges = findRanges(element, sought);
      CSS.highlights.set(name, new Highlight(...ranges));
      const first = ranges.find(({ startContainer }) => startContainer.parentElement?.closest(pane));
      if (isShown || !first) return;
      isShown = true;
      first.startContainer.parentElement?.scrollIntoView({ block: 'nearest' });
    };
    const later = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    };
    later();
    const observer = new MutationObserver(later);
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      CSS.highlights.delete(name);
    };
  }, [root, sought, pane, place]);
};
