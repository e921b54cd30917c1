import ArgumentParser

/// Where the services keep what they are told.
enum Store: String, Hashable, Sendable, CaseIterable, ExpressibleByArgument {
    /// A file of each service's own in the state directory.
    case sqlite
}
