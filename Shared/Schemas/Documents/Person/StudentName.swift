import Base

/// The account name of a student who registers: an ``AccountName`` with the limits of ``PersonLimits``, which neither looks like an
/// option of a command nor like a folder of a path. Accounts of before may have other names.
package struct StudentName: Hashable, Sendable {
    package let account: AccountName
}

extension StudentName: TextCodable {
    package init?(_ description: String) {
        guard description.utf8.count >= PersonLimits.minStudentName, PersonLimits.studentName.problem(with: description) == nil,
            !description.hasPrefix("-"), description.contains(where: { $0 != "." }), let account = AccountName(description)
        else { return nil }
        self.account = account
    }

    package var description: String { account.description }

    package static var expected: String {
        "\(PersonLimits.minStudentName) to \(PersonLimits.studentName.max) characters of A–Z a–z 0–9 . _ -, "
            + "neither beginning with - nor dots alone (a student's account name)"
    }
    /// Without the length.
    package static var pattern: String { "^([A-Za-z0-9_]|\\.+[A-Za-z0-9_-])[A-Za-z0-9._-]*$" }
    package static var example: String { "ann" }
}
