/// Recently requested parts of a service's data, all of one version.
struct KnownParts<Key: Hashable & Sendable, Part: Versioned>: Sendable {
    private var version: Part.Version?
    private var parts: [Key: Part] = [:]

    subscript(key: Key) -> Part? {
        parts[key]
    }

    /// Adds a part, and removes those of another version.
    mutating func add(_ part: Part, for key: Key) {
        if part.version != version { parts = [:] }
        version = part.version
        parts[key] = part
    }
}
