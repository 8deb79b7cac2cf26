/**
 * The texts in the traces of `agent-traces.ts`: customers' messages, the model's replies and
 * thoughts. Each `{word}` stands for one of `words`.
 */

/** At least one text, so that a random one can always be picked. */
export type Texts = readonly [string, ...string[]];

/** The replacements of each `{word}`. They may contain further `{words}`. */
export const words: Readonly<Record<string, Texts>> = {
  bike: [
    'city bike',
    'gravel bike',
    'cargo bike',
    'folding bike',
    'mountain bike',
    'touring bike',
    'e-bike',
    '{colour} tandem',
  ],
  part: [
    'rear derailleur',
    'front wheel',
    'brake pads',
    'hub dynamo',
    'bottom bracket',
    'saddle',
    'chain',
    'battery lock',
    'headset',
    'display',
  ],
  colour: ['black', 'silver', 'olive', 'dark red', 'white', 'petrol'],
  problem: [
    'creaks under load',
    'came with a deep scratch',
    'does not fit the frame',
    'stopped working in the rain',
    'has too much play',
    'is not the one I ordered',
    'slips in the {number}th gear',
    '不太好用',
  ],
  when: [
    'since last {day}',
    'for {number} days now',
    'ever since the delivery on {month} {number}',
    'after {number} km',
    'on my way to work this morning',
  ],
  day: ['Monday', 'Tuesday', 'Thursday', 'Friday', 'Saturday'],
  month: ['March', 'April', 'May', 'June', 'July', 'September', 'October'],
  city: ['Leipzig', 'Gent', 'Lyon', 'Utrecht', 'Aarhus', 'Torino', 'Kraków', 'Málaga', 'Graz', 'Bath'],
  street: ['Mill Lane', 'Lindenallee', 'Rue des Tanneurs', 'Kanaalstraat', 'Station Road', 'Via Po'],
  first: [
    'Ada',
    'Noor',
    'Mateo',
    'Ingrid',
    'Omar',
    'Yuki',
    'Chiara',
    'Lars',
    'Amélie',
    'Piotr',
    'Lena',
    'Hugo',
  ],
  last: ['Brandt', 'Okafor', 'Rossi', 'Nguyen', 'de Vries', 'Kowalska', 'García', 'Lindholm', 'Moreau'],
};

/** A customer's first message. */
export const openings: Texts = [
  "Hi! The {part} of my {bike} {problem} {when}. Can you help me with that? I'm a bit lost here.",
  'Hello, I need to return the {part} from order {order}, because it {problem}.',
  'Good morning – I would like to have my {bike} repaired: the {part} {problem} {when}.',
  '你好! My {bike} should have come on {day}, and {number} days later it still is not here in {city}.',
  'Hello! I want to change the address of my order {order} to {number} {street} in {city}, please.',
  'Hi, I was charged {price} € for a {part} that I never asked for.',
];

/** A customer's later messages. */
export const answers: Texts = [
  'Yes, please go ahead; {price} € is fine with me.',
  'My name is {first} {last}, and the order is {order}. It was sent to {city}.',
  'It {problem} {when}, and so does the {part}. I would rather have the {price} € back on the card that I paid with.',
  'No, {day} does not suit me. Could you look whether there is anything free on {month} {number}?',
  'Do you have the {part} in {colour} as well? If it costs less than {price} €, I will take {number} of them.',
  'I understand. Could you please check whether the warranty covers it? The shop in {city} told me that it would.',
  'Yes.',
  'About {number}{number}0 km, mostly to work and back. The frame number ends in {number}{number}, and it {problem} when it is cold.',
  'Hm, {price} € is more than I thought. What would it cost in {city}, and could somebody look at the {part} before {day}?',
  "I don't have the number at hand right now. Could you find it by my name, {first} {last}, or by my address, {number} {street}, {city}?",
];

/** A customer's last message. */
export const farewell = "That's all, thank you!";

/** Sentences of the model's replies, which are long. */
export const replies: Texts = [
  'I have found your order {order} from {month} {number}: one {bike} in {colour}, sent to {number} {street}, {city}.',
  'To look into this I need your name and the number of the order, which is on the invoice of {month} {number}.',
  'The {part} {problem}, you say, and that is covered by the warranty, so the repair costs you nothing.',
  'I can book the repair of the {part} for {day}, {month} {number}, in our workshop in {city}; it takes about {number} hours.',
  'The refund of {price} € goes to the card that you paid with and takes three to five working days.',
  'Here is what I would do:\n\n1. **Part**: {part}, {colour}, {price} €\n2. **Work**: {number} × 15 minutes, {price} €\n3. **When**: {day}, {month} {number}, {city}\n\nShall I go ahead (yes/no)?',
  'I am sorry that the {part} {problem}; that should not happen after {number} km.',
  'The {colour} one is sold out in {city}. There are {number} left in {city}, and the next delivery of the {part} is planned for {month}.',
  'As far as I can see, {first} {last} signed for the parcel on {day}, {month} {number}, at the door of {number} {street}.',
  'Unfortunately the {part} wears, and is excluded after the first 500 km; I can offer it to you for {price} € in the place of {price} €.',
  'Could you tell me the frame number, how far you have ridden, and whether it {problem} only when you brake?',
  'Is there anything else that I can do for you, {first}?',
];

/** Thoughts of the model, as inputs of the tool `think`. */
export const thoughts: Texts = [
  'The customer says that the {part} {problem} {when}. The order {order} is from {month} {number}, so it is within the warranty of 24 months; wear and tear is excluded, which may hold for a {part}. I should ask what happened, before I book anything for {price} €.',
  'The price in the stock system is {price} €, but the invoice says {price} €. The difference may be the delivery to {city}. I have to list both and to wait for a yes.',
  'The order {order} has left the warehouse for {city} on {day}, so it cannot be changed any more: it can only be returned within 30 days, with the {part} unused.',
];

/** Results of tool calls that changed or found nothing. */
export const refusals: Texts = ['Error: order not found', 'Error: customer not found', '[]', '{price}'];

/** The exception of a failed tool call, with the line that raised it. */
export const toolFailure = 'OrderNotFound: no such order\n  at find_order (tools.py:41)';
