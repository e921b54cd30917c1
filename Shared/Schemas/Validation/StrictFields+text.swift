package import JSON

extension StrictFields {
    /// A required text within limits.
    package func text(_ key: Key, _ limits: TextLimits) throws -> String {
        let text = try value(key, as: String.self)
        if let problem = limits.problem(with: text) { throw violation(key, problem) }
        return text
    }

    /// A text within limits that may be left out.
    package func optionalText(_ key: Key, _ limits: TextLimits) throws -> String? {
        contains(key) ? try text(key, limits) : nil
    }
}
