import Base
import Bus
import HTTPTypes
package import Schemas

/// What super users do with the accounts of students: lists of a university's office, devices, and codes.
struct StudentAccountRoutes: Feature {
    let people: CommandClient
    let devices: DeviceAccess

    var section: APISection {
        APISection(
            "Accounts of students",
            "A student has no right in the hub, and uses the routes of persons alone. `/account` is about students as well.")
    }

    /// The last part of a path beside those of accounts. No new account has the name (``AccountName/isPathWord``).
    static let importSegment = "import"
    private static let ofAccount = "/account/:account/devices"
    private static let path: [String: any Route.Document.Type] = ["account": AccountName.self]
    /// Each row is a change by itself.
    private static let importTimeout = Duration.seconds(20)

    var routes: [Route] { accountRoutes + codeRoutes }

    private var accountRoutes: [Route] {
        [
            Route(
                .post, "/account/\(Self.importSegment)", right: .administer, confirmed: true, body: ImportAccounts.self,
                answer: .ok(ImportAccounts.Reply.self)
            ) { call in
                Answer(
                    try await people.request(
                        try await call.body(), timeout: Self.importTimeout, context: call.credentialedCaller))
            }.documented(
                "Import accounts of students",
                "At most \(ImportAccounts.maxRows) rows. Each is done by itself, and its outcome says what came of it. With `dry_run` nothing "
                    + "changes. Repeated, it changes nothing either. 409 without an OpenID Connect provider, which knows the students by `oidc`.",
                problems: [.conflict]),
            Route(.get, Self.ofAccount, right: .administer, answer: .ok(ListDevices.Reply.self)) { call in
                Answer(try await people.request(ListDevices(call.account()), context: call.caller))
            }.documented("List the devices of an account", path: Self.path),
            Route(.delete, Self.ofAccount, right: .administer, confirmed: true, answer: .noContent) { call in
                let account = try call.account()
                _ = try await people.request(EndDevice(nil, of: account), context: call.credentialedCaller)
                await devices.end(account: account)
                return Answer()
            }.documented(
                "Sign out all devices of an account",
                "Their tokens end at once at this gateway, and within a second at all others.",
                path: Self.path),
            Route(.delete, Self.ofAccount + "/:id", right: .administer, confirmed: true, answer: .noContent) { call in
                let device = try call.identifier("id")
                _ = try await people.request(EndDevice(device, of: call.account()), context: call.credentialedCaller)
                await devices.end(device: device)
                return Answer()
            }.documented("Sign out a device of an account", path: Self.path),
        ]
    }

    private var codeRoutes: [Route] {
        [
            Route(.get, "/access-codes", right: .administer, answer: .ok(ListAccessCodes.Reply.self)) { call in
                Answer(try await people.request(ListAccessCodes(), context: call.caller))
            }.documented("List the access codes", "Those that can still be used, the newest first, without their secrets."),
            Route(
                .post, "/access-codes", right: .administer, confirmed: true, body: AddAccessCode.self,
                answer: .created(AddAccessCode.Reply.self)
            ) { call in
                let added = try await people.request(try await call.body(), context: call.credentialedCaller)
                return Answer(added, headers: [.location: "/access-codes/\(added.accessCode.id)"])
            }.documented(
                "Make an access code",
                "`professor` gives the mark of professors, `account` lets people register where that needs a code. `code` is shown only here.",
                answerHeaders: [.location]),
            Route(.delete, "/access-codes/:id", right: .administer, confirmed: true, answer: .noContent) { call in
                _ = try await people.request(RemoveAccessCode(call.identifier("id")), context: call.credentialedCaller)
                return Answer()
            }.documented("End an access code", "What it has given stays."),
        ]
    }
}

extension ImportAccounts: HasExample {
    package static var example: ImportAccounts {
        ImportAccounts(
            rows: [ImportedAccount(account: .exampleAccount, oidc: "248289761001", displayName: "Ann Lee")], dryRun: true)
    }
}

extension AddAccessCode: HasExample {
    package static var example: AddAccessCode {
        AddAccessCode(grants: .professor, note: "Physics", uses: 20, expires: .exampleTime + .seconds(86_400))
    }
}
