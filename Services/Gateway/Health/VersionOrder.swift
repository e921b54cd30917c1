import Schemas

extension PartHealth {
    /// The report on a service of another version than the gateway's: it accepts the gateway's commands only if it is not older.
    ///
    /// - Returns: `nil` if the versions are equal.
    static func version(_ version: String, besideGateway own: String) -> PartHealth? {
        guard version != own else { return nil }
        guard ProductVersionNumber(version) < ProductVersionNumber(own) else {
            return PartHealth(.ok, "it is newer than the gateway (\(own)): upgrade the gateway as well", version: version)
        }
        return PartHealth(
            .conflict,
            "it is older than the gateway (\(own)) and may refuse its commands: upgrade this service; the order is services before gateways",
            version: version)
    }
}

/// A version such as `0.13.0`, ordered by its numbers.
struct ProductVersionNumber: Comparable {
    private let numbers: [Int]

    /// What is no number counts as 0.
    init(_ text: String) {
        numbers = text.split(separator: ".").map { Int($0.prefix(while: \.isNumber)) ?? 0 }
    }

    static func < (one: ProductVersionNumber, other: ProductVersionNumber) -> Bool {
        one.numbers.lexicographicallyPrecedes(other.numbers)
    }
}
