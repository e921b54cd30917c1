/// The outcome of one component: FCM's name for it if it was accepted, otherwise the error.
package struct ComponentOutcome: Codable, Hashable, Sendable {
    package let component: Component
    package let result: Result<String, ComponentError>

    package init(component: Component, result: Result<String, ComponentError>) {
        self.component = component
        self.result = result
    }

    private enum CodingKeys: String, CodingKey {
        case component, name, error
    }

    /// `{"component":"data","name":"projects/…"}` or `{"component":"data","error":{…}}`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        component = try container.decode(Component.self, forKey: .component)
        if let error = try container.decodeIfPresent(ComponentError.self, forKey: .error) {
            result = .failure(error)
        } else {
            result = .success(try container.decode(String.self, forKey: .name))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(component, forKey: .component)
        switch result {
        case .success(let name): try container.encode(name, forKey: .name)
        case .failure(let error): try container.encode(error, forKey: .error)
        }
    }
}

extension ComponentError: Error {}
