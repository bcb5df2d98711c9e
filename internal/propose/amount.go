package propose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/sqltype"
)

// symbols stand before or behind the numbers of a column; the longer ones first. A column
// with two of them is none of numbers: who adds dollars to euros is wrong.
var symbols = []string{"US$", "R$", "EUR", "USD", "GBP", "CHF", "JPY", "SEK", "NOK", "DKK", "PLN", "CZK", "Fr.", "kr.", "kr", "Kč", "zł", "$", "€", "£", "¥", "₹", "₽", "₺", "₩", "%"}

// amounts says how a column of texts such as $1,200.50 or 12,5 % is read as numbers: by an
// expression over its text. It says nothing of a column that is not so in nearly all rows.
func amounts(c *column, rows [][]string, i int) {
	var values []string
	for _, row := range rows {
		if i < len(row) && !missing[strings.ToLower(row[i])] {
			values = append(values, row[i])
		}
	}
	i = slices.IndexFunc(symbols, func(s string) bool { // the first values show it, or not enough do
		return slices.ContainsFunc(values[:min(len(values), 10)], func(v string) bool { return strings.Contains(v, s) })
	})
	if i < 0 {
		return
	}
	symbol := symbols[i]
	for _, m := range numberForms {
		marked := func(v string) bool { return strings.Contains(v, m.thousands) }
		if !slices.ContainsFunc(values, marked) {
			continue
		}
		form := notation.Form{Decimal: m.decimal, Thousands: m.thousands}
		if precise, all := holdsAmounts(values, symbol, &form); all {
			c.amount(symbol, m, precise)
			return
		}
	}
}

// holdsAmounts reports whether the values are numbers in a form beside a symbol, which one
// or the other may lack, and whether one has more than two digits of a fraction.
func holdsAmounts(values []string, symbol string, form *notation.Form) (precise, all bool) {
	not := 0
	for _, v := range values {
		text, ok := beside(v, symbol, form)
		if !ok {
			if not++; not > len(values)/unread {
				return false, false
			}
			continue
		}
		_, fraction, _ := strings.Cut(text, ".")
		precise = precise || len(fraction) > 2
	}
	return precise, true
}

// beside is the number beside a symbol, as SQL writes it.
func beside(v, symbol string, form *notation.Form) (text string, ok bool) {
	sign := ""
	if rest, is := strings.CutPrefix(v, "-"); is { // -$5
		sign, v = "-", rest
	}
	before, after, has := strings.Cut(v, symbol)
	before, after = strings.TrimSpace(before), strings.TrimSpace(after)
	if has && before != "" && after != "" || strings.Contains(before+after, symbol) {
		return "", false
	}
	number := sqltype.Of(sqltype.Double)
	text = string(form.Canonical(nil, []byte(sign+before+after), number))
	_, err := sqltype.ParseValue(number, text)
	return text, err == nil
}

// amount derives the numbers of a column from its texts.
func (c *column) amount(symbol string, m marks, precise bool) {
	name := c.name
	if !plainName.MatchString(name) || catalog.Reserved(strings.ToLower(name)) {
		name = identifier(name)
	}
	c.typ = sqltype.DecimalOf(18, 2)
	if precise || symbol == "%" {
		c.typ = sqltype.Of(sqltype.Double)
	}
	c.is = fmt.Sprintf("replace(%s, %s, '')", name, literal(symbol))
	example := "1234" + string(m.decimal) + "5"
	if m.thousands != "" {
		c.is = fmt.Sprintf("replace(%s, %s, '')", c.is, literal(m.thousands))
		example = "1" + m.thousands + "234" + string(m.decimal) + "5"
	}
	if m.decimal != '.' {
		c.is = fmt.Sprintf("replace(%s, %s, '.')", c.is, literal(string(m.decimal)))
	}
	c.is = fmt.Sprintf("trim(%s)::%s", c.is, c.typ)
	c.note = fmt.Sprintf("%s beside %s is read as 1234.5; to keep the texts, declare it as text without is", example, symbol)
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
