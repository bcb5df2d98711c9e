// Speaks Prio3 as libprio-rs does. Each line of input is a request, each line of output its
// answer; words are separated by spaces, bytes are hexadecimal, and "-" stands for none.
//
//   TYPE CONTEXT shard NONCE MEASUREMENT            -> PUBLIC SHARE SHARE
//   TYPE CONTEXT init KEY NONCE ID PUBLIC SHARE      -> PREPSHARE
//   TYPE CONTEXT finish KEY NONCE ID PUBLIC SHARE PREPSHARE PREPSHARE -> MESSAGE OUTPUT
//
// TYPE is count, sum:MAX, sumvec:LENGTH:BITS:CHUNK, histogram:LENGTH:CHUNK or
// multihot:LENGTH:WEIGHT:CHUNK. A measurement is numbers with commas. What the library
// refuses is answered "refused".

use prio::codec::{Encode, ParameterizedDecode};
use prio::vdaf::prio3::{Prio3, Prio3InputShare, Prio3PrepareMessage, Prio3PrepareShare, Prio3PublicShare};
use prio::vdaf::{Aggregator, Client, PrepareTransition};
use std::error::Error;
use std::io::{stdin, BufRead};

type Answer = Result<String, Box<dyn Error>>;

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".into();
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn bytes(text: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    if text == "-" {
        return Ok(vec![]);
    }
    (0..text.len()).step_by(2).map(|i| Ok(u8::from_str_radix(&text[i..i + 2], 16)?)).collect()
}

fn fixed<const N: usize>(text: &str) -> Result<[u8; N], Box<dyn Error>> {
    bytes(text)?.try_into().map_err(|_| "length".into())
}

macro_rules! answer {
    ($vdaf:expr, $measure:expr, $w:expr) => {{
        let (v, w) = ($vdaf, $w);
        let context = bytes(w[1])?;
        match w[2] {
            "shard" => {
                let numbers: Vec<u64> = w[4].split(',').map(|n| n.parse()).collect::<Result<_, _>>()?;
                let (public, shares) = v.shard(&context, &$measure(numbers), &fixed::<16>(w[3])?)?;
                Ok(format!("{} {} {}", hex(&public.get_encoded()?), hex(&shares[0].get_encoded()?), hex(&shares[1].get_encoded()?)))
            }
            _ => {
                let (key, nonce, id) = (fixed::<32>(w[3])?, fixed::<16>(w[4])?, w[5].parse::<usize>()?);
                let public = Prio3PublicShare::get_decoded_with_param(&v, &bytes(w[6])?)?;
                let share = Prio3InputShare::get_decoded_with_param(&(&v, id), &bytes(w[7])?)?;
                let (state, prepared) = v.prepare_init(&key, &context, id, &(), &nonce, &public, &share)?;
                if w[2] == "init" {
                    return Ok(hex(&prepared.get_encoded()?));
                }
                let both = [
                    Prio3PrepareShare::get_decoded_with_param(&state, &bytes(w[8])?)?,
                    Prio3PrepareShare::get_decoded_with_param(&state, &bytes(w[9])?)?,
                ];
                let message = v.prepare_shares_to_prepare_message(&context, &(), both)?;
                let text = hex(&message.get_encoded()?);
                let message = Prio3PrepareMessage::get_decoded_with_param(&state, &message.get_encoded()?)?;
                match v.prepare_next(&context, state, message)? {
                    PrepareTransition::Finish(out) => Ok(format!("{} {}", text, hex(&out.get_encoded()?))),
                    PrepareTransition::Continue(..) => Err("one round is all there is".into()),
                }
            }
        }
    }};
}

fn handle(w: &[&str]) -> Answer {
    let of: Vec<&str> = w[0].split(':').collect();
    let n: Vec<usize> = of[1..].iter().map(|n| n.parse()).collect::<Result<_, _>>()?;
    match of[0] {
        "count" => answer!(Prio3::new_count(2)?, |m: Vec<u64>| m[0] != 0, w),
        "sum" => answer!(Prio3::new_sum(2, n[0] as u64)?, |m: Vec<u64>| m[0], w),
        "sumvec" => answer!(Prio3::new_sum_vec(2, n[1], n[0], n[2])?, |m: Vec<u64>| m.into_iter().map(u128::from).collect::<Vec<u128>>(), w),
        "histogram" => answer!(Prio3::new_histogram(2, n[0], n[1])?, |m: Vec<u64>| m[0] as usize, w),
        "multihot" => answer!(Prio3::new_multihot_count_vec(2, n[0], n[1], n[2])?, |m: Vec<u64>| m.into_iter().map(|x| x != 0).collect::<Vec<bool>>(), w),
        _ => Err("type".into()),
    }
}

fn main() {
    for line in stdin().lock().lines() {
        let Ok(line) = line else { return };
        let words: Vec<&str> = line.split(' ').collect();
        match handle(&words) {
            Ok(text) => println!("{text}"),
            Err(why) => {
                eprintln!("{why}");
                println!("refused")
            }
        }
    }
}
