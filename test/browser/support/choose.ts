import type { Locator, Page } from 'playwright-core';

/** Chooses an option of a field, as people do: opens it, and picks the option by what it says. */
export const choose = async (form: Page | Locator, field: string, option: string | RegExp): Promise<void> => {
  const page = 'page' in form ? form.page() : form;
  await form.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name: option, exact: typeof option === 'string' }).click();
};
