/// A setting that stops the start: which one, and what is wrong with it.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
