/// The outcome of one component: FCM's name for it if it was accepted, otherwise the error.
package struct ComponentOutcome: Codable, Hashable, Sendable {
    package let component: Component
    package let result: Result<String, DeliveryError>

    package init(component: Component, result: Result<String, DeliveryError>) {
        self.component = component
        self.result = result
    }

    private enum CodingKeys: CodingKey {
        case component
    }

    /// `{"component":"data","name":"projects/…"}` or `{"component":"data","error":{…}}`.
    package init(from decoder: any Decoder) throws {
        component = try decoder.container(keyedBy: CodingKeys.self).decode(Component.self, forKey: .component)
        result = try SendResult(from: decoder).result
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(component, forKey: .component)
        try SendResult(result).encode(to: encoder)
    }
}

extension DeliveryError: Error {}
