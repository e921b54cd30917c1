/// A feature of the app that the hub has switched for this phone.
public struct AppFeature: Hashable, Sendable, Identifiable {
    public let name: String
    public let isOn: Bool
    /// The free-form data of the switch.
    public let data: String?
    /// Until when, in Unix milliseconds. Then the feature is again as the app has it.
    public let expires: Int64

    public var id: String { name }
}
