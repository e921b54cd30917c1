/// An invalid setting that stops the start: its name and the problem.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
