import Foundation

/// Reads settings from the variables of an environment, and collects what is wrong with them.
struct EnvironmentReader {
    private let variables: [String: String]
    private let prefix: String
    private var problems: [DataAPI.EnvironmentError.Problem] = []

    init(_ variables: [String: String], prefix: String) {
        self.variables = variables
        self.prefix = prefix
    }

    /// A text that is not empty.
    func text(_ name: String) -> String? {
        variables[prefix + name].flatMap { $0.isEmpty ? nil : $0 }
    }

    mutating func required(_ name: String) -> String? {
        guard let text = text(name) else {
            note(name, DataAPI.EnvironmentError.Problem.missing)
            return nil
        }
        return text
    }

    mutating func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            note(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    /// The value of a variable, or the content of the file that `…_FILE` names, without the line break at its end.
    ///
    /// - Parameter mayBeEmpty: whether an empty value is one.
    mutating func secret(_ name: String, mayBeEmpty: Bool = false) -> String? {
        guard let file = text(name + "_FILE") else { return mayBeEmpty ? variables[prefix + name] : text(name) }
        guard text(name) == nil else {
            note(name, "and \(prefix + name)_FILE exclude each other")
            return nil
        }
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: file)),
            let content = String(bytes: data, encoding: .utf8)
        else {
            note(name + "_FILE", "must name a file that can be read")
            return nil
        }
        // A "\r\n" is one character.
        let secret = content.last?.isNewline == true ? String(content.dropLast()) : content
        guard mayBeEmpty || !secret.isEmpty else {
            note(name + "_FILE", "must name a file that is not empty")
            return nil
        }
        return secret
    }

    /// Whether one of a secret's two variables is set.
    func hasSecret(_ name: String) -> Bool { text(name) != nil || text(name + "_FILE") != nil }

    mutating func note(_ name: String, _ reason: String) {
        problems.append(DataAPI.EnvironmentError.Problem(variable: prefix + name, reason: reason))
    }

    /// Returns the value that was made of the variables, if nothing is wrong with any of them.
    func checked<Value>(_ value: Value?) throws(DataAPI.EnvironmentError) -> Value {
        guard let value, problems.isEmpty else { throw DataAPI.EnvironmentError(problems: problems) }
        return value
    }
}
