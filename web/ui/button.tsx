import type { ComponentProps } from 'react';

interface ButtonProps extends ComponentProps<'button'> {
  /** @default 'plain' */
  readonly kind?: 'plain' | 'primary' | 'quiet';
  /** Whether it does nothing now. Unlike a disabled button, it keeps the focus. @default false */
  readonly idle?: boolean;
}

const doNothing = (event: { preventDefault(): void }) => event.preventDefault();

/** A button. It submits nothing unless it is told to. */
export const Button = ({ kind = 'plain', type = 'button', className = '', idle, ...props }: ButtonProps) => (
  <button
    type={type}
    className={`button ${kind} ${className}`}
    {...props}
    {...(idle && { 'aria-disabled': true, onClick: doNothing })}
  />
);
