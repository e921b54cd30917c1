import ArgumentParser
import Base
import Schemas
import ServiceKit

/// `msi account devices`.
struct ListDevicesCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "Lists the devices on which a student is signed in, the one that was used last first.")

    @Argument(help: "The account's name.")
    var account: AccountName

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let devices = try await people.request(ListDevices(account)).devices
        return devices.isEmpty ? "\(account) is signed in on no device" : devices.map(\.line).joined(separator: "\n")
    }
}

/// `msi account sign-out`.
struct SignOutCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out",
        abstract: "Signs a student out on one device or all. It acts at once at every gateway that reaches the people service.")

    @Argument(help: "The account's name.")
    var account: AccountName

    @Argument(help: "The device's id, as msi account devices shows it; without it, all devices.")
    var device: ObjectID?

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        _ = try await people.request(EndDevice(device, of: account))
        return device.map { "signed out \(account) on the device \($0)" } ?? "signed out \(account) on all devices"
    }
}

extension Device {
    /// A line of the list, with columns.
    fileprivate var line: String {
        let reached = pushEnded == nil ? push.map { "reached by \($0.title)" } ?? "gets no pushes" : "its app is gone"
        let columns = [
            "\(id)", platform.rawValue + String(repeating: " ", count: max(0, 7 - platform.rawValue.count)), "used \(seen.inUTC)",
            reached, name, appVersion.map { "version \($0)" },
        ]
        return columns.compactMap { $0 }.joined(separator: "  ").onOneLine(maxLength: 300)
    }
}
