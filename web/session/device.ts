import { createStore, useStore } from 'zustand';
import { isObject, jsonIn } from '../data/values.ts';

/*
 * What the browser keeps: the key, the project that was open last, the columns of lists, the theme, and
 * how panes are divided. Where its storage is blocked, all of this lasts until the page is closed.
 */

type Place = () => Storage;

const tab: Place = () => sessionStorage;
const device: Place = () => localStorage;

const read = (place: Place, name: string): string | null => {
  try {
    return place().getItem(name);
  } catch {
    return null;
  }
};

const write = (place: Place, name: string, value: string | null): void => {
  try {
    if (value === null) place().removeItem(name);
    else place().setItem(name, value);
  } catch {
    // Nothing was kept there, and nothing can be.
  }
};

/** What the tab keeps under a name; null for nothing. */
export const readInTab = (name: string): string | null => read(tab, name);

/** Has the tab keep a text under a name, or forget it. */
export const writeInTab = (name: string, value: string | null): void => write(tab, name, value);

const signsInName = 'pennytrace.signs-in';

/** Whether somebody on this device signs in at an issuer: a new tab then does so without being asked. */
export const signsIn = (): boolean => read(device, signsInName) !== null;

/** Notes that somebody on this device signs in at an issuer, or that they have signed out. */
export const noteSignsIn = (does: boolean): void => write(device, signsInName, does ? 'yes' : null);

const keyName = 'pennytrace.key';

/** The kept key; null for none. It is never in a URL, a cookie or the query cache. */
export const keptKey = (): string | null => read(tab, keyName) ?? read(device, keyName);

/** Forgets the key, wherever it was kept. */
export const forgetKey = (): void => {
  for (const place of [tab, device]) write(place, keyName, null);
};

/** Keeps a key for the tab, or on the device if its owner asked for that. */
export const keepKey = (key: string, onDevice: boolean): void => {
  forgetKey();
  write(onDevice ? device : tab, keyName, key);
};

/** Whether the key is kept on the device. */
export const isOnDevice = (): boolean => read(device, keyName) !== null;

const projectName = 'pennytrace.project';

/** The project that was open last on this device; undefined for none. */
export const lastProject = (): string | undefined => read(device, projectName) ?? undefined;

/** Notes the open project. */
export const noteProject = (project: string): void => write(device, projectName, project);

/** The columns of a project's list, as its URL has them. */
export interface KeptColumns {
  readonly columns?: readonly string[];
  readonly layout?: readonly string[];
}

const columnsName = (project: string): string => `pennytrace.columns.${project}`;

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** The columns that were chosen for a project's list on this device; undefined for none. */
export const keptColumns = (project: string): KeptColumns | undefined => {
  const kept = jsonIn(read(device, columnsName(project)) ?? '');
  if (!isObject(kept)) return undefined;
  const { columns, layout } = kept;
  return { ...(isTexts(columns) && { columns }), ...(isTexts(layout) && { layout }) };
};

/** Keeps the columns of a project's list, or forgets them if they are as at first. */
export const keepColumns = (
  project: string,
  { columns, layout }: { readonly [Field in keyof KeptColumns]: KeptColumns[Field] | undefined },
): void =>
  write(device, columnsName(project), columns || layout ? JSON.stringify({ columns, layout }) : null);

/** What the page looks like. */
export type Theme = 'system' | 'light' | 'dark';

const themeName = 'pennytrace.theme';

const keptTheme = (): Theme => {
  const kept = read(device, themeName);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
};

const chosenTheme = createStore<Theme>(keptTheme);

/** The theme that is chosen on this device. */
export const useTheme = (): Theme => useStore(chosenTheme);

/** Applies the chosen theme. The tokens follow `color-scheme`. */
export const applyTheme = (): void => {
  document.documentElement.dataset.theme = chosenTheme.getState();
};

/** Chooses a theme, applies it and keeps it on the device. */
export const chooseTheme = (theme: Theme): void => {
  chosenTheme.setState(theme, true);
  applyTheme();
  write(device, themeName, theme);
};

const sideBarName = 'pennytrace.side-bar';

/** How wide the side bar is. */
export type SideBarWidth = 'wide' | 'narrow';

/** The width of the side bar that was chosen on this device; undefined if it follows the window. */
export const chosenSideBar = (): SideBarWidth | undefined => {
  const kept = read(device, sideBarName);
  return kept === 'wide' || kept === 'narrow' ? kept : undefined;
};

/** Keeps the width of the side bar on the device. */
export const chooseSideBar = (width: SideBarWidth): void => write(device, sideBarName, width);

const shareName = 'pennytrace.share';

/** The share of a trace's tree that was chosen on this device, in percent. @default 38 */
export const chosenShare = (): number => Number(read(device, shareName)) || 38;

/** Keeps the share of a trace's tree on the device. */
export const chooseShare = (share: number): void => write(device, shareName, String(share));

const listShareName = 'pennytrace.list-share';

/** The share of a list beside what is opened in it that was chosen on this device, in percent. @default 50 */
export const chosenListShare = (): number => Number(read(device, listShareName)) || 50;

/** Keeps the share of a list on the device. */
export const chooseListShare = (share: number): void => write(device, listShareName, String(share));
