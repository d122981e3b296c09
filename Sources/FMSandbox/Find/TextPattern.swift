/// A pattern over folded text: literal characters, `*` (any run), `@` (one character), `#` (one digit).
struct TextPattern: Equatable, Sendable {
    enum Element: Equatable, Sendable {
        case literal(UInt32)
        case anyRun
        case anyCharacter
        case anyDigit
    }

    var elements: [Element] = []

    /// Whether the pattern matches the text from its start, and also to its end if `whole`.
    ///
    /// A `*` matches as little as possible and is widened only when the rest of the pattern fails. Only the last `*`
    /// has to be remembered, so the time is at most proportional to the product of both lengths.
    func matches(_ text: ArraySlice<UInt32>, whole: Bool) -> Bool {
        var position = text.startIndex
        var element = 0
        var lastRun: (element: Int, position: Int)?
        while true {
            if element == elements.count {
                if !whole || position == text.endIndex { return true }
            } else if elements[element] == .anyRun {
                lastRun = (element, position)
                element += 1
                continue
            } else if position < text.endIndex, Self.matches(elements[element], text[position]) {
                element += 1
                position += 1
                continue
            }
            guard let run = lastRun, run.position < text.endIndex else { return false }
            lastRun = (run.element, run.position + 1)
            element = run.element + 1
            position = run.position + 1
        }
    }

    private static func matches(_ element: Element, _ scalar: UInt32) -> Bool {
        switch element {
        case .literal(let literal): literal == scalar
        case .anyRun, .anyCharacter: true
        case .anyDigit: TextFolding.isDigit(scalar)
        }
    }
}
