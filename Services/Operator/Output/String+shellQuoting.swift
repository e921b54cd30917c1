extension String {
    /// The text as one word of a shell's command: in quotes if it has spaces or characters with a meaning for the shell.
    var shellQuoted: String {
        let isPlain = !isEmpty && allSatisfy { $0.isLetter || $0.isNumber || "_@%+=:,./-".contains($0) }
        return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}
