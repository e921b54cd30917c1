import ServiceKit

/// Prints a text that may be of others, such as a name in the cube: nothing in it controls the terminal. In this module it takes the
/// place of Swift's function.
func print(_ text: some CustomStringConvertible, terminator: String = "\n") {
    Swift.print(text.description.terminalText, terminator: terminator)
}
